// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request on its way; in one place, since it is handed from step to step.
final class OutgoingRequest: Sendable {
    let content: TransportRequest
    /// Whether its `Cookie` field is from the cookie store, and so is replaced at the next redirect step.
    let hasStoredCookies: Bool

    var urlRequest: URLRequest { content.urlRequest }

    init(_ content: TransportRequest, hasStoredCookies: Bool = false) {
        self.content = content
        self.hasStoredCookies = hasStoredCookies
    }

    /// The request with a change to it.
    func with(_ change: (inout TransportRequest) -> Void) -> OutgoingRequest {
        var content = content
        change(&content)
        return OutgoingRequest(content, hasStoredCookies: hasStoredCookies)
    }
}
