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
    /// Whether the call was cancelled, or the time that its caller gave the whole of it was over: neither is a server's doing.
    let isInterrupted: Bool
    /// The request as far as it is known: behind redirects the last one.
    let request: URLRequest?
    /// The URL that answered, or that the exchange failed at; `nil` where the transport does not say.
    let url: URL?
    /// Whether redirects had been followed when the exchange failed.
    private let wasRedirected: Bool

    init(_ result: Result<Response, TargetKitError>) {
        let (response, error) =
            switch result {
            case .success(let response): (Response?.some(response), TargetKitError?.none)
            case .failure(let error): (error.response, error)
            }
        let failure = response == nil && error?.stage == .transport ? error?.underlying as? URLError : nil
        status = response?.statusCode
        code = failure?.code
        let isOverdue = (error?.underlying as? URLError)?.userInfo[FailureMark.wholeCall] != nil
        isInterrupted = error?.stage == .cancelled || isOverdue
        request = response?.request ?? error?.request
        url = response?.request?.url ?? failure?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        wasRedirected = failure?.userInfo[FailureMark.redirects] != nil
    }

    /// Whether the exchange failed after the URL that was asked for had answered with a redirect. The URL of the failure may be
    /// the same again; that it is another one tells of a redirect that the transport has followed by itself.
    var isBehindRedirect: Bool {
        if wasRedirected { return true }
        guard code != nil, let url, let asked = request?.url else { return false }
        // An error's URL is redacted.
        return url.redacted.absoluteString != asked.redacted.absoluteString
    }

    /// Whether another server than the one that was asked has come into it, by a redirect: so the one that was asked has answered.
    func isElsewhere(than asked: URL?) -> Bool {
        guard let asked, let url else { return false }
        return ServerOrigin(asked) != ServerOrigin(url)
    }
}
