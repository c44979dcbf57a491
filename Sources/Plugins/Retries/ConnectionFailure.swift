// SPDX-License-Identifier: MIT
import TargetKit

/// The meaning of `URLError` codes for the server.
package enum ConnectionFailure {
    /// Failures of the server: no connection, lost connections and timeouts, after which the server may have processed the
    /// request. These don't include an offline device.
    package static let ofServer = URLError.Code.beforeSending.union([.timedOut, .networkConnectionLost])

    /// Failures that are often temporary, which don't include a failed TLS handshake.
    package static let transient: Set<URLError.Code> = [
        .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .timedOut, .networkConnectionLost,
        .notConnectedToInternet,
    ]
}
