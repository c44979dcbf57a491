// SPDX-License-Identifier: MIT
import Foundation

/// The result of a stubbed call.
public enum SampleResponse: Sendable {
    /// A response with a status, header fields and a body.
    case response(status: Int, headers: HTTPHeaders = [:], data: Data)
    /// The failure of a transport, without a response.
    case failure(any Error & Sendable)
}

extension SampleResponse: RedactedDescription {
    /// The status and size, or the failure.
    package var redactedDescription: String {
        switch self {
        case .response(let status, _, let data): "HTTP \(status), \(data.count) bytes"
        case .failure(let error): "a failure: \(ErrorDescription(error))"
        }
    }
}
