// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The end of an attempt, for plugins that judge servers. A status counts whether the target accepts it or not.
package struct AttemptOutcome {
    /// The status code, if a response arrived.
    package let status: Int?
    /// Why the exchange failed, if it did.
    package let code: URLError.Code?
    /// Whether the call was cancelled, or the timeout of the whole call has expired: neither is a failure of the
    /// server.
    package let isInterrupted: Bool
    /// The request, if it is known; after redirects the last one.
    let request: URLRequest?
    /// The URL that responded, or at which the exchange failed; `nil` if the transport doesn't report it.
    let url: URL?
    /// Whether redirects had been followed when the exchange failed.
    private let wasRedirected: Bool

    package init(_ result: Result<Response, TargetKitError>) {
        var (response, error) = result.parts
        // Neither a stored response nor another plugin's error says anything about the server.
        let isOfPlugin = error?.isOfPlugin == true
        if isOfPlugin || response?.origin.isCache == true { response = nil }
        let isOfTransport = response == nil && !isOfPlugin && error?.stage == .transport
        let failure = isOfTransport ? error?.underlying as? URLError : nil
        status = response?.statusCode
        code = failure?.code
        let isOverdue = (error?.underlying as? URLError)?.userInfo[FailureMark.wholeCall] != nil
        isInterrupted = error?.stage == .cancelled || isOverdue
        request = response?.request ?? error?.request
        url = response?.request?.url ?? failure?.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        wasRedirected = failure?.userInfo[FailureMark.redirects] != nil
    }

    /// Whether the exchange failed after the requested URL responded with a redirect. If the URL of the failure is
    /// another one, the transport has followed a redirect itself.
    package var isBehindRedirect: Bool {
        if wasRedirected { return true }
        guard code != nil, let url, let asked = request?.url else { return false }
        // An error's URL is redacted.
        return url.redacted.absoluteString != asked.redacted.absoluteString
    }

    /// Whether a redirect led to another server than the requested one, so the requested one responded.
    func isElsewhere(than asked: URL?) -> Bool {
        guard let asked, let url else { return false }
        return ServerOrigin(asked) != ServerOrigin(url)
    }
}

extension Result<Response, TargetKitError> {
    /// The response, also that of a failure, and the failure.
    package var parts: (response: Response?, error: TargetKitError?) {
        switch self {
        case .success(let response): (response, nil)
        case .failure(let error): (error.response, error)
        }
    }
}

/// What a policy counts as a failure of a server.
protocol ServerFailures {
    /// The status codes.
    var statuses: Set<Int> { get }
    /// The `URLError` codes.
    var errorCodes: Set<URLError.Code> { get }
}

extension ServerFailures {
    /// - Parameter url: The URL that the attempt asked for.
    func verdict(on outcome: AttemptOutcome, of url: URL?) -> Verdict {
        guard !outcome.isInterrupted else { return .nothing }
        if let status = outcome.status {
            guard statuses.contains(status) else { return .worked }
        } else {
            guard let code = outcome.code, errorCodes.contains(code) else { return .nothing }
        }
        return outcome.isElsewhere(than: url) ? .worked : .failed
    }

    /// Whether the head of a stream has counted as a success, and its body has failed.
    func countsBodyFailure(of call: FinishedCall, from url: URL?) -> Bool {
        guard let code = call.bodyFailure, errorCodes.contains(code) else { return false }
        let head = AttemptOutcome(call.result)
        return verdict(on: head, of: url) == .worked && !head.isElsewhere(than: url)
    }
}

extension FinishedCall {
    /// The error of a stream whose body failed after its head had arrived; `nil` if it didn't.
    fileprivate var bodyFailure: URLError.Code? {
        guard streamedByteCount != nil, case .failure(let error) = result, error.stage == .transport,
            error.response != nil
        else { return nil }
        return (error.underlying as? URLError)?.code
    }
}

/// What `URLError` codes mean for the server and the request.
package enum ConnectionFailure {
    /// No connection was made: the name wasn't found, the connection was refused, or the TLS handshake failed. Nothing
    /// of the request was sent, so no server processed it.
    package static let beforeSending: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

    /// The connection was lost, or the request timed out. The server may have processed the request.
    static let whileExchanging: Set<URLError.Code> = [.timedOut, .networkConnectionLost]

    /// Failures of the server: ``beforeSending`` and ``whileExchanging``. An offline device isn't one of them.
    static let ofServer = beforeSending.union(whileExchanging)

    /// Failures that are often temporary. A failed TLS handshake isn't.
    static let transient: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .notConnectedToInternet,
    ]
}
