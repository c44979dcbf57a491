// SPDX-License-Identifier: MIT

/// Data protection on Apple platforms, for files that are written in the background.
package enum FileProtection {
    /// Allows writing to a file while the device is locked, after its first unlock after a restart. Does nothing
    /// without data protection, and on failure.
    package static func allowAccessWhileLocked(_ file: URL) {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        let attributes: [FileAttributeKey: Any] = [
            .protectionKey: FileProtectionType.completeUntilFirstUserAuthentication
        ]
        try? FileManager.default.setAttributes(attributes, ofItemAtPath: file.path)
        #endif
    }
}
