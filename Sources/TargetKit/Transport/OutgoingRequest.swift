// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request on its way; in one place, since it is handed from step to step.
final class OutgoingRequest: Sendable {
    let request: TransportRequest

    var urlRequest: URLRequest { request.urlRequest }

    init(_ request: TransportRequest) {
        self.request = request
    }

    /// The request with a change to it.
    func with(_ change: (inout TransportRequest) -> Void) -> OutgoingRequest {
        var request = request
        change(&request)
        return OutgoingRequest(request)
    }
}
