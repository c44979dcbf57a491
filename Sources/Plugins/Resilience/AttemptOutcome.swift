// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What an attempt came to, for plugins that judge servers: a status is a status, whether the target validates it or not.
struct AttemptOutcome {
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

/// What the codes of `URLError` say about the server and about the request.
enum ConnectionFailure {
    /// No connection came about: the name is not known, it was refused, TLS could not be agreed. Nothing of the request was
    /// sent, so no server has done anything.
    static let beforeSending: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

    /// The exchange broke or took too long. The server may have done what it was asked for.
    static let whileExchanging: Set<URLError.Code> = [.timedOut, .networkConnectionLost]

    /// What goes by without anybody's doing, more often than not. TLS that is refused stays refused.
    static let transient: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .notConnectedToInternet,
    ]
}

extension URLRequest {
    /// The method, as it goes out.
    var method: HTTPMethod { httpMethod.map(HTTPMethod.init(rawValue:)) ?? .get }

    /// Whether the server can tell a repetition by a key.
    var hasIdempotencyKey: Bool { value(forHTTPHeaderField: HTTPHeaderName.idempotencyKey.rawValue) != nil }

    /// Whether it does no harm when the server gets it twice: the method is idempotent (RFC 9110 §9.2.2), or it has a key.
    var isSafeToRepeat: Bool { hasIdempotencyKey || RetryPolicy.idempotentMethods.contains(method) }
}

/// Scheme, host and port of a URL (RFC 9110 §4.3.1): what makes two URLs the same server.
struct ServerOrigin: Sendable, Hashable, CustomStringConvertible {
    /// `https://shop.example`, in lower case, without the port that the scheme implies.
    let description: String

    /// `nil` for a URL that is not http or https, or has no host.
    init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty
        else { return nil }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[")
        var text = scheme + "://" + (isAddress ? "[\(host)]" : host)
        if let port = url.port, port != (scheme == "https" ? 443 : 80) { text += ":\(port)" }
        description = text
    }
}
