// SPDX-License-Identifier: MIT
import Foundation

/// What a stubbed call answers with.
public enum SampleResponse: Sendable {
    /// A response of that status, header fields and body.
    case response(status: Int, headers: HTTPHeaders = [:], data: Data)
    /// The failure of a transport: no response arrives.
    case failure(any Error & Sendable)
}

extension SampleResponse: CustomStringConvertible, CustomReflectable {
    /// The status and size, or the failure.
    public var description: String {
        switch self {
        case .response(let status, _, let data): "HTTP \(status), \(data.count) bytes"
        case .failure(let error): "a failure: \(ErrorDescription(error))"
        }
    }

    /// Reflects only the description, so `dump` omits header fields and body.
    public var customMirror: Mirror { Mirror(describing: self) }
}
