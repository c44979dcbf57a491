// SPDX-License-Identifier: MIT
#if os(Linux)

extension CurlTransport {
    /// Whether requests go through a proxy.
    public enum Proxy: Sendable, Hashable {
        /// The proxies in the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; all except
        /// the first may also be in uppercase. They are read once, when the transport is created.
        case environment
        /// No proxy, regardless of the environment.
        case none
        /// The proxy at the URL, for example `http://user:password@proxy.example:3128`, except for hosts whose names
        /// end in one of the given suffixes; `*` matches all hosts.
        ///
        /// The scheme is `http`, `socks4`, `socks4a`, `socks5` or `socks5h`, or `https` if libcurl was built with it. A
        /// call ends with `.badURL` if the proxy's URL is invalid, and with `.cannotConnectToHost` if the proxy refuses
        /// the connection.
        case url(URL, except: [String] = [])
    }

    /// The limits and settings of a transport, as described in the initializer.
    struct Configuration: Sendable {
        var connectTimeout: Duration = .seconds(60)
        var idleTimeout: Duration = .seconds(60)
        var maxConnectionsPerHost = 128
        var maxConnections = 512
        var maxHeadSize = 256 << 10
        var allowsHTTP2 = true
        var proxy = Proxy.environment
        var unixSocketPath: String?
        var tls = TLSPolicy.system
        var lookup: CurlLookup?
    }

    /// Creates a transport with its own thread and connections.
    ///
    /// - Parameters:
    ///   - connectTimeout: The maximum time to open a connection, including name lookup and TLS. Default: 60 seconds.
    ///   - idleTimeout: The maximum time without sending or receiving a byte before the exchange ends with `.timedOut`.
    ///     Default: 60 seconds. It doesn't apply to a request with its own timeout, or while a request waits for a
    ///     connection or for the reader of a stream. It applies while a request's body is read, so a ``BodySource``
    ///     that blocks for this time ends the exchange, unless the call has a timeout such as
    ///     ``CallTimeout/exchange(_:)``.
    ///   - maxConnectionsPerHost: The maximum number of open connections to one host; further requests wait in order.
    ///     Default: 128; 0 means no limit. Over HTTP/2, requests share a connection; another one is opened when it
    ///     reaches the server's limit of streams.
    ///   - maxConnections: The maximum number of open connections in total; further requests wait, and hosts take
    ///     turns. Default: 512; 0 means no limit.
    ///   - maxHeadSize: The maximum total size in bytes of a response's head, the heads of 1xx responses, and trailers,
    ///     including status lines. Default: 262,144 (256 KiB). A larger response ends with `.dataLengthExceedsMaximum`.
    ///     libcurl has additional limits, which end with that error too: 100 KiB for a line, 4 KiB for a trailer line,
    ///     and 300 KB in total from version 8.3 on.
    ///   - allowsHTTP2: Whether HTTP/2 is used where TLS negotiates it; default `true`. If `false`, only HTTP/1.1 is
    ///     used.
    ///   - proxy: The proxy; default: the environment's.
    ///   - unixSocketPath: The Unix-domain socket of all requests, regardless of their host; default: none.
    ///   - tls: The TLS policy; default: the system's.
    ///   - resolver: Returns the IPv4 and IPv6 addresses of a host, in the order in which they are tried; `nil` for the
    ///     system's lookup. Default `nil`: always the system's. It is called before each request, so remember answers
    ///     for as long as they are valid; an open connection to the host is used as long as it stays open. Certificates,
    ///     server name, `Host` and cookies still are those of the host. An empty array ends the call with
    ///     `.cannotFindHost`. The time counts toward the request's timeout, or is limited by `connectTimeout`. It isn't
    ///     called for a host that is an address, and with `unixSocketPath`, and its answer has no effect for requests
    ///     through a proxy that looks up names itself.
    public convenience init(
        connectTimeout: Duration = .seconds(60),
        idleTimeout: Duration = .seconds(60),
        maxConnectionsPerHost: Int = 128,
        maxConnections: Int = 512,
        maxHeadSize: Int = 256 << 10,
        allowsHTTP2: Bool = true,
        proxy: Proxy = .environment,
        unixSocketPath: String? = nil,
        tls: TLSPolicy = .system,
        resolver: (@Sendable (_ host: String, _ port: Int) async -> [String]?)? = nil
    ) {
        var configuration = Configuration()
        configuration.connectTimeout = connectTimeout
        configuration.idleTimeout = idleTimeout
        configuration.maxConnectionsPerHost = maxConnectionsPerHost
        configuration.maxConnections = maxConnections
        configuration.maxHeadSize = maxHeadSize
        configuration.allowsHTTP2 = allowsHTTP2
        configuration.proxy = proxy
        configuration.unixSocketPath = unixSocketPath
        configuration.tls = tls
        configuration.lookup = unixSocketPath == nil ? resolver.map { CurlLookup(resolver: $0) } : nil
        self.init(configuration: configuration)
    }
}

extension CurlTransport.Proxy: RedactedDescription {
    /// The proxy, without user name and password.
    var redactedDescription: String {
        switch self {
        case .environment: "from the environment"
        case .none: "none"
        case .url(let url, let exceptions):
            "\(RedactedURL(url))" + (exceptions.isEmpty ? "" : " except for \(exceptions.joined(separator: ", "))")
        }
    }
}
#endif
