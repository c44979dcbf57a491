// SPDX-License-Identifier: MIT
import TargetKit

/// The end of an attempt, for plugins that evaluate servers. A status counts regardless of whether the target accepts
/// it.
package struct AttemptOutcome {
    /// The status code, if a response arrived.
    package let status: Int?
    /// The reason why the exchange failed, if it did.
    package let code: URLError.Code?
    /// Whether the call was cancelled, or the timeout of the whole call expired, which aren't failures of the server.
    package let isInterrupted: Bool
    /// The request, if known; after redirects, the last one.
    let request: URLRequest?
    /// The URL that responded, or at which the exchange failed; `nil` if the transport doesn't report it.
    let url: URL?
    /// Whether the exchange failed after the requested URL responded with a redirect. If the failure has another URL,
    /// the transport itself followed a redirect.
    package let isBehindRedirect: Bool

    package init(_ result: Result<Response, TargetKitError>) {
        var (response, error) = result.parts
        // A cached response or another plugin's error isn't evidence about the server.
        let isOfPlugin = error?.isMarked(.ofPlugin) == true
        if isOfPlugin || response?.origin.isCache == true { response = nil }
        let isOfTransport = response == nil && !isOfPlugin && error?.stage == .transport
        let failure = isOfTransport ? error?.underlying as? URLError : nil
        status = response?.statusCode
        code = failure?.code
        let isOverdue = (error?.underlying as? URLError)?.userInfo[FailureMark.wholeCall] != nil
        isInterrupted = error?.stage == .cancelled || isOverdue
        request = response?.request ?? error?.request
        url = response?.request?.url ?? failure?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        isBehindRedirect =
            error?.isMarked(.afterRedirect) == true || failure?.isElsewhere(than: request?.url) == true
    }

    /// Whether a redirect led to another server, so that the requested server responded.
    package func isElsewhere(than asked: URL?) -> Bool {
        guard let asked, let url else { return false }
        return ServerOrigin(asked) != ServerOrigin(url)
    }
}

extension Response {
    /// The statuses of redirects that can change the method to GET, because the server has processed the request
    /// (RFC 9110 §15.4).
    package static let processingRedirects = 301...303

    /// The decision of a plugin that repeats a rejected call immediately. A call that the server processed before a
    /// redirect is repeated only if that is safe.
    func repetition(of context: RequestContext) -> RetryDecision {
        let isProcessed = redirects.contains { Self.processingRedirects.contains($0.statusCode) }
        return isProcessed && !context.isRepeatable ? .doNotRetry : .retry(after: .zero)
    }
}

extension Result<Response, TargetKitError> {
    /// The response, including the response of a failure, and the failure.
    package var parts: (response: Response?, error: TargetKitError?) {
        switch self {
        case .success(let response): (response, nil)
        case .failure(let error): (error.response, error)
        }
    }
}
