// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an attempt came to, for plugins that judge servers: a status is a status, whether the target validates it or not.
struct AttemptEnding {
    /// The status code, where a response has arrived.
    let status: Int?
    /// Why the exchange failed, where it did.
    let code: URLError.Code?
    /// Whether the call was cancelled.
    let isCancelled: Bool
    /// The request as far as it is known: behind redirects the last one.
    let request: URLRequest?
    /// The URL that answered, or that the exchange failed at; `nil` where the transport does not say.
    let url: URL?

    init(_ result: Result<Response, TargetKitError>) {
        let (response, error) =
            switch result {
            case .success(let response): (Response?.some(response), TargetKitError?.none)
            case .failure(let error): (error.response, error)
            }
        let failure = response == nil && error?.stage == .transport ? error?.underlying as? URLError : nil
        status = response?.statusCode
        code = failure?.code
        isCancelled = error?.stage == .cancelled
        request = response?.request ?? error?.request
        url = response?.request?.url ?? failure?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
    }

    /// Whether the exchange failed at another URL than the one that was asked for, so that this one has answered with a redirect.
    var isBehindRedirect: Bool {
        guard code != nil, let url, let asked = request?.url else { return false }
        return url.absoluteString != asked.absoluteString
    }

    /// Whether another server than the one that was asked has come into it, by a redirect: so the one that was asked has answered.
    func isElsewhere(than asked: URL?) -> Bool {
        guard let asked, let url else { return false }
        return ServerOrigin(asked) != ServerOrigin(url)
    }
}
