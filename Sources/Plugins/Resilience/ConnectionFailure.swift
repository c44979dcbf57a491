// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
