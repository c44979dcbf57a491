// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin that adds header fields when all else about the request stands: after every plugin's `prepare`, wherever it is in
/// the array, and with the body at hand, which a `URLRequest` has no word for when it is a file or a stream.
///
/// It is asked at each attempt, right before `willSend`. Calls that share one network call share its fields.
package protocol RequestFinisher: Plugin {
    /// The fields to set over those of the request.
    ///
    /// - Throws: ends the call with an error of stage `.request`; there is no `willSend` then.
    func finalFields(for request: TransportRequest, context: RequestContext) async throws -> HTTPHeaders
}

extension PluginChain {
    /// The request with the fields of all finishers. Each sees those of the ones before.
    func finish(_ request: TransportRequest, context: RequestContext) async throws -> TransportRequest {
        var request = request
        for finisher in finishers {
            let fields = try await finisher.finalFields(for: request, context: context)
            guard !fields.isEmpty else { continue }
            var all = HTTPHeaders(request.urlRequest.allHTTPHeaderFields ?? [:])
            for (name, value) in fields.dictionary { all[name] = value }
            // Foundation would let a line break through, and with it a second request.
            try RequestCheck(method: .get, hasBody: false).check(request.urlRequest.url, all.dictionary)
            request.urlRequest.allHTTPHeaderFields = all.dictionary
        }
        return request
    }
}
