// SPDX-License-Identifier: MIT

/// The meaning of `URLError` codes for the server and the request.
package enum ConnectionFailure {
    /// No connection was made, because the name wasn't found, the connection was refused, or the TLS handshake failed.
    /// Nothing was sent, so no server processed the request.
    package static let beforeSending: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

    /// The connection was lost, or the request timed out. The server may have processed the request.
    private static let whileExchanging: Set<URLError.Code> = [.timedOut, .networkConnectionLost]

    /// Failures of the server: ``beforeSending``, lost connections and timeouts. These don't include an offline device.
    package static let ofServer = beforeSending.union(whileExchanging)

    /// Failures that are often temporary, which don't include a failed TLS handshake.
    package static let transient: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .notConnectedToInternet,
    ]

    /// Whether nothing was sent, because no connection was made or the device is offline.
    package static func isUnsent(_ code: URLError.Code) -> Bool {
        beforeSending.contains(code) || TargetKitError.Kind(code) == .offline
    }
}

extension URLError {
    /// Whether the exchange failed at another URL than the requested one, to which the transport itself followed a
    /// redirect. An error's URL is redacted.
    package func isElsewhere(than requested: URL?) -> Bool {
        guard let url = userInfo[NSURLErrorFailingURLErrorKey] as? URL, let requested else { return false }
        return url.redacted.absoluteString != requested.redacted.absoluteString
    }
}
