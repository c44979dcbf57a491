// SPDX-License-Identifier: MIT

#if canImport(Security)
import Foundation
import Security
import TargetKit

/// Why the keychain has refused a ``KeychainCredentialStore``.
public struct KeychainError: Error, Sendable, Hashable {
    /// The code of the Security framework; `errSecInteractionNotAllowed` before the device was first unlocked.
    public let status: OSStatus
}

extension KeychainError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// The system's words for the code, in one line.
    public var description: String {
        "keychain: \(SecCopyErrorMessageString(status, nil) as String? ?? "unknown failure") (\(status))"
    }

    /// The description.
    public var errorDescription: String? { description }
}
#endif
