// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

extension CurlTransport {
    /// Whether requests go through a proxy.
    public enum Proxy: Sendable, Hashable {
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment say; all but the first may be in
        /// capitals too. They are read once, when the transport is made.
        case environment
        /// None, whatever the environment says.
        case none
        /// The proxy at that URL, for example `http://user:password@proxy.example:3128`, except for the hosts whose names end in
        /// one of those; `*` stands for all.
        ///
        /// The scheme is `http`, `socks4`, `socks4a`, `socks5` or `socks5h`, and `https` where libcurl was built with it. A call
        /// that needs a proxy whose URL cannot be used ends with `.badURL`, and one that the proxy refuses with
        /// `.cannotConnectToHost`.
        case url(URL, except: [String] = [])
    }

    /// Which version of HTTP is spoken.
    public enum Version: Sendable, Hashable {
        /// HTTP/2 where TLS agrees on it, and HTTP/1.1 elsewhere.
        case automatic
        /// HTTP/1.1 everywhere.
        case http1
    }

    /// The limits and settings of a ``CurlTransport``.
    public struct Configuration: Sendable, Hashable {
        /// How long a connection may take to stand, with name lookup and TLS; default: 60 seconds.
        public var connectTimeout: Duration = .seconds(60)
        /// How long no byte may come or go before the exchange ends with `.timedOut`; default: 60 seconds.
        ///
        /// Does not count for a request that has a timeout of its own, nor while a request waits for its turn or the reader of a
        /// stream takes its time.
        public var idleTimeout: Duration = .seconds(60)
        /// How many connections may be open to one host at a time; more requests wait for one, in their order. Default: 128; 0: no
        /// limit.
        ///
        /// Over HTTP/2 requests share a connection: another is opened when the server allows no more streams on it.
        public var maxConnectionsPerHost = 128
        /// How many connections may be open in all; more requests wait for one, and each host has its turn. Default: 512; 0: no
        /// limit.
        public var maxConnections = 512
        /// How many connections without work are kept for later; default: 128.
        public var maxIdleConnections = 128
        /// How long a connection without work is still used, in whole seconds; default: 60 seconds.
        public var maxIdleTime: Duration = .seconds(60)
        /// How many bytes the heads of one response may have together: those of 1xx responses, its own, and its trailers; status
        /// lines count. Default: 262,144 (256 KiB).
        ///
        /// A response with more ends with `.dataLengthExceedsMaximum`. libcurl has limits of its own, which differ from version
        /// to version and end in the same way: 100 KiB for a line, 4 KiB for one of a trailer, and from 8.3 on 300 KB in all.
        public var maxHeadSize = 256 << 10
        /// The version of HTTP; default: the best that both sides know.
        public var version = Version.automatic
        /// Whether requests go through a proxy; default: as the environment says.
        public var proxy = Proxy.environment
        /// The Unix-domain socket that all requests go to, whatever their host; default: none.
        public var unixSocketPath: String?
        /// Whom to trust over TLS; default: whom the system trusts.
        public var tls = TLSPolicy.system

        /// The default settings.
        public init() {}
    }
}

extension CurlTransport.Proxy: CustomStringConvertible, CustomReflectable {
    /// Which proxy, without user and password.
    public var description: String {
        switch self {
        case .environment: "as the environment says"
        case .none: "none"
        case .url(let url, let exceptions):
            "\(RedactedURL(url))" + (exceptions.isEmpty ? "" : " except for \(exceptions.joined(separator: ", "))")
        }
    }

    /// The description, so that `dump` does not show the password either.
    public var customMirror: Mirror { Mirror(describing: self) }
}
#endif
