// SPDX-License-Identifier: MIT
import Dispatch

/// The main queue.
package enum MainQueue {
    /// Waits until everything that has been passed to the main queue has run.
    package static func settle() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}
