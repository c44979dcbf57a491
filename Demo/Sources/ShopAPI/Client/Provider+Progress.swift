// SPDX-License-Identifier: MIT
import Dispatch
import TargetKit
import TargetKitPlugins

extension Provider {
    /// Makes a call whose progress is reported. Cancelling the task cancels the call.
    ///
    /// - Parameter progress: Called on a queue of its own, before the method returns.
    package func response(
        to target: Target,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(TargetKitError) -> Response {
        let handle = Guarded<RequestHandle?>(nil)
        let queue = DispatchQueue(label: "shop.progress")
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let started = request(target, on: queue, progress: progress) { continuation.resume(returning: $0) }
                handle.withLock { $0 = started }
                if Task.isCancelled { started.cancel() }
            }
        } onCancel: {
            handle.value?.cancel()
        }
        return try result.get()
    }
}
