// SPDX-License-Identifier: MIT
import Foundation

/// Data protection of Apple's systems, for files that are written in the background.
package enum FileProtection {
    /// Lets a file be written while the device is locked, once it has been unlocked after a restart. Does nothing on
    /// systems without data protection, and on failure.
    package static func allowAccessWhileLocked(_ file: URL) {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        let attributes: [FileAttributeKey: Any] = [
            .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication
        ]
        try? FileManager.default.setAttributes(attributes, ofItemAtPath: file.path)
        #endif
    }
}
