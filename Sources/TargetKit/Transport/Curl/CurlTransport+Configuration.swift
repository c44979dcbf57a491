// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

extension CurlTransport {
    /// Whether requests go through a proxy.
    public enum Proxy: Sendable, Hashable {
        /// The proxies in the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; all but
        /// the first may be in uppercase as well. They are read once, when the transport is created.
        case environment
        /// No proxy, regardless of the environment.
        case none
        /// The proxy at the URL, for example `http://user:password@proxy.example:3128`, except for hosts whose names
        /// end in one of the given suffixes; `*` matches all hosts.
        ///
        /// The scheme is `http`, `socks4`, `socks4a`, `socks5` or `socks5h`, or `https` if libcurl was built with it. A
        /// call ends with `.badURL` when the proxy's URL is invalid, and with `.cannotConnectToHost` when the proxy
        /// refuses it.
        case url(URL, except: [String] = [])
    }

    /// The HTTP version to use.
    public enum Version: Sendable, Hashable {
        /// HTTP/2 where TLS negotiates it, and HTTP/1.1 otherwise.
        case automatic
        /// HTTP/1.1 only.
        case http1
    }

    /// The limits and settings of a ``CurlTransport``.
    public struct Configuration: Sendable, Hashable {
        /// The maximum time to open a connection, including name lookup and TLS. Default: 60 seconds.
        public var connectTimeout: Duration = .seconds(60)
        /// The maximum time without sending or receiving a byte before the exchange ends with `.timedOut`. Default: 60
        /// seconds.
        ///
        /// Does not apply to a request that has a timeout of its own, or while a request waits for a connection or for
        /// the reader of a stream. It does apply while a request's body is read: a ``BodySource`` that gives no byte for
        /// so long ends the exchange, because a server would not wait either. A call whose source is slower needs a
        /// timeout of its own, for example ``CallTimeout/exchange(_:)``.
        public var idleTimeout: Duration = .seconds(60)
        /// The maximum number of open connections to one host; further requests wait in order. Default: 128; 0: no
        /// limit.
        ///
        /// Over HTTP/2 requests share a connection; another one is opened when the server allows no more streams on it.
        public var maxConnectionsPerHost = 128
        /// The maximum number of open connections in total; further requests wait, and hosts take turns. Default: 512;
        /// 0: no limit.
        public var maxConnections = 512
        /// The maximum number of idle connections that are kept open. Default: 128.
        public var maxIdleConnections = 128
        /// The maximum time that an idle connection is kept for reuse, in whole seconds. Default: 60 seconds.
        public var maxIdleTime: Duration = .seconds(60)
        /// The maximum total size of a response's heads in bytes: those of 1xx responses, its own, and its trailers,
        /// including status lines. Default: 262,144 (256 KiB).
        ///
        /// A larger response ends with `.dataLengthExceedsMaximum`. libcurl has limits of its own, which depend on its
        /// version and end in the same way: 100 KiB for a line, 4 KiB for a trailer line, and from 8.3 on 300 KB in
        /// total.
        public var maxHeadSize = 256 << 10
        /// The HTTP version; default: the highest that both sides support.
        public var version = Version.automatic
        /// The proxy; default: the environment's.
        public var proxy = Proxy.environment
        /// The Unix-domain socket that all requests go to, whatever their host; default: none.
        public var unixSocketPath: String?
        /// The TLS policy; default: the system's.
        public var tls = TLSPolicy.system

        /// The default settings.
        public init() {}
    }
}

extension CurlTransport.Proxy: ReflectsDescription {
    /// The proxy, without user name and password.
    public var description: String {
        switch self {
        case .environment: "from the environment"
        case .none: "none"
        case .url(let url, let exceptions):
            "\(RedactedURL(url))" + (exceptions.isEmpty ? "" : " except for \(exceptions.joined(separator: ", "))")
        }
    }
}
#endif
