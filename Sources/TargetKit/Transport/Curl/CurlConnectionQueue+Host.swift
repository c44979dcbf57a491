// SPDX-License-Identifier: MIT
#if os(Linux)

extension CurlConnectionQueue {
    /// The calls to one host that share connections.
    final class Host {
        /// The HTTP version of the host's last response.
        enum Version {
            case unknown
            case http1
            case http2
        }

        /// The properties that the connections of a host share.
        struct Key: Hashable {
            /// The scheme, name and port of the host or the proxy.
            var origin: String
            /// Whether its calls can share a connection over HTTP/2.
            var canShare: Bool

            /// Whether the host is an IP address, which isn't looked up.
            fileprivate var isAddress: Bool {
                let host = origin.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
                return host.first == UInt8(ascii: "[")
                    || host.contains(UInt8(ascii: "."))
                        && host.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
            }
        }

        let key: Key
        var version: Version
        var running = 0
        /// Whether the host responded over HTTP.
        var hasResponded = false
        /// Whether the name of the host was found, isn't looked up, or it responded over a persistent connection.
        var isFound: Bool
        /// The number of responses so far.
        var responseCount = 0
        /// The number of running transfers that may still open a connection.
        var unsent = 0
        /// Whether some calls to the same origin use HTTP/1.1.
        var isMixed = false
        var first = CurlCall.noIndex
        var last = CurlCall.noIndex
        /// Whether the host is in the round-robin list.
        var isEnqueued = false
        var nextHost: Host?
        unowned var previousHost: Host?

        init(_ key: Key) {
            self.key = key
            version = key.canShare ? .unknown : .http1
            isFound = key.isAddress
        }

        var isWaiting: Bool { first != CurlCall.noIndex }
        var isUnused: Bool { running == 0 && !isWaiting }
    }
}
#endif
