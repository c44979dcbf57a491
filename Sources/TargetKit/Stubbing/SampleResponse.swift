// SPDX-License-Identifier: MIT
import Foundation

/// What a stubbed call answers with.
public enum SampleResponse: Sendable {
    /// A response of that status, header fields and body.
    case response(status: Int, headers: HTTPHeaders = [:], data: Data)
    /// The failure of a transport: no response arrives.
    case failure(any Error & Sendable)
}
