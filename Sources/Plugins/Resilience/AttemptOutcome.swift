// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The end of an attempt, for plugins that judge servers. A status counts whether the target accepts it or not.
struct AttemptOutcome {
    /// The status code, if a response has arrived.
    let status: Int?
    /// Why the exchange failed, if it did.
    let code: URLError.Code?
    /// Whether the call was cancelled, or the timeout of the whole call has expired: neither is a failure of the server.
    let isInterrupted: Bool
    /// The request, if it is known; after redirects the last one.
    let request: URLRequest?
    /// The URL that answered, or at which the exchange failed; `nil` if the transport does not report it.
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

    /// Whether the exchange failed after the requested URL had answered with a redirect. If the URL of the failure is another one,
    /// the transport has followed a redirect itself.
    var isBehindRedirect: Bool {
        if wasRedirected { return true }
        guard code != nil, let url, let asked = request?.url else { return false }
        // An error's URL is redacted.
        return url.redacted.absoluteString != asked.redacted.absoluteString
    }

    /// Whether a redirect has led to another server than the requested one, which has therefore answered.
    func isElsewhere(than asked: URL?) -> Bool {
        guard let asked, let url else { return false }
        return ServerOrigin(asked) != ServerOrigin(url)
    }
}

extension FinishedCall {
    /// The error of a stream whose body failed after its head had arrived; `nil` if it did not.
    var bodyFailure: URLError.Code? {
        guard streamedByteCount != nil, case .failure(let error) = result, error.stage == .transport,
            error.response != nil
        else { return nil }
        return (error.underlying as? URLError)?.code
    }
}

/// What `URLError` codes mean for the server and the request.
enum ConnectionFailure {
    /// No connection was made: the name was not found, the connection was refused, or the TLS handshake failed. Nothing of the
    /// request was sent, so no server has processed it.
    static let beforeSending: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

    /// The connection was lost, or the request timed out. The server may have processed the request.
    static let whileExchanging: Set<URLError.Code> = [.timedOut, .networkConnectionLost]

    /// Failures of the server: ``beforeSending`` and ``whileExchanging``. An offline device is not one of them.
    static let ofServer = beforeSending.union(whileExchanging)

    /// Failures that are often temporary. A failed TLS handshake is not.
    static let transient: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .notConnectedToInternet,
    ]
}
