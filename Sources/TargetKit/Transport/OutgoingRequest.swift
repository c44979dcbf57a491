// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request on its way; in one place, since it is handed from step to step.
final class OutgoingRequest: Sendable {
    let content: TransportRequest

    var urlRequest: URLRequest { content.urlRequest }

    init(_ content: TransportRequest) {
        self.content = content
    }

    /// The request with a change to it.
    func with(_ change: (inout TransportRequest) -> Void) -> OutgoingRequest {
        var content = content
        change(&content)
        return OutgoingRequest(content)
    }
}
