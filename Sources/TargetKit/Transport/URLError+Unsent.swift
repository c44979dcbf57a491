// SPDX-License-Identifier: MIT

extension URLError.Code {
    /// No connection was made, because the name wasn't found, the connection was refused, or the TLS handshake failed.
    /// Nothing was sent, so no server processed the request.
    package static let beforeSending: Set<Self> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .secureConnectionFailed, .serverCertificateUntrusted,
        .serverCertificateHasUnknownRoot, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
    ]

    /// Whether nothing was sent, because no connection was made or the device is offline.
    package var isUnsent: Bool { Self.beforeSending.contains(self) || TargetKitError.Kind(self) == .offline }
}

extension URLError {
    /// Whether the exchange failed at another URL than the requested one, to which the transport itself followed a
    /// redirect. An error's URL is redacted.
    package func isElsewhere(than requested: URL?) -> Bool {
        guard let url = userInfo[NSURLErrorFailingURLErrorKey] as? URL, let requested else { return false }
        return url.redacted.absoluteString != requested.redacted.absoluteString
    }
}
