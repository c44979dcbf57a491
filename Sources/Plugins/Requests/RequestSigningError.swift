// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Why a request could not be signed.
public enum RequestSigningError: Error, Sendable, Hashable {
    /// The signature has a header field that the plugin was not told of, so that a redirect would take it to another origin.
    case undeclaredField(name: String)
}

extension RequestSigningError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// What is wrong, in one line.
    public var description: String {
        switch self {
        case .undeclaredField(let name): "the signature sets \(name), which is not among the plugin's fields"
        }
    }

    /// The description, so that `localizedDescription` says what happened.
    public var errorDescription: String? { description }
}
