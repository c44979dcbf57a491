// SPDX-License-Identifier: MIT
import TargetKit

extension Session {
    /// Creates the transport with the session's settings.
    func makeTransport() -> any Transport {
        IdleTransport { seconds in self.transport(idleTimeout: seconds) }
    }

    /// The transport with an idle timeout in seconds; `nil` for the session's timeout.
    private func transport(idleTimeout: TimeInterval?) -> any Transport {
        let configuration = sessionConfiguration
        let exchangeTransport = exchangeTransport(idleTimeout: idleTimeout)
        guard let storage = configuration.httpCookieStorage, configuration.httpShouldSetCookies,
            configuration.httpCookieAcceptPolicy != .never
        else { return exchangeTransport }
        return CookieStorageTransport(transport: exchangeTransport, storage: Unchecked(storage))
    }

    private func exchangeTransport(idleTimeout: TimeInterval?) -> any Transport {
        guard let serverTrustManager else { return exchangeTransport(.system, idleTimeout: idleTimeout) }
        return TrustingTransport(
            manager: Unchecked(serverTrustManager),
            hosts: serverTrustManager.authorities.mapValues { exchangeTransport($0, idleTimeout: idleTimeout) },
            others: exchangeTransport(serverTrustManager.policy, idleTimeout: idleTimeout)
        )
    }

    private func exchangeTransport(_ tls: TLSPolicy, idleTimeout: TimeInterval?) -> any Transport {
        let configuration = sessionConfiguration.with(idleTimeout: idleTimeout)
        if hasOwnProtocols { return URLSessionTransport(configuration: configuration, tls: tls) }
        guard tls != .system || hasOwnLimits || idleTimeout != nil else { return SystemTransport.shared }
        #if os(Linux)
        let connections = configuration.httpMaximumConnectionsPerHost
        return CurlTransport(
            connectTimeout: min(.seconds(60), configuration.idleTimeout),
            idleTimeout: configuration.idleTimeout,
            maxConnectionsPerHost: connections == Self.standard.httpMaximumConnectionsPerHost
                ? 128 : max(1, connections),
            tls: tls
        )
        #else
        return URLSessionTransport(configuration: configuration, tls: tls)
        #endif
    }

    /// Whether the configuration has `URLProtocol` classes of the app, which only a `URLSession` can use.
    private var hasOwnProtocols: Bool {
        let standard = Self.standard.protocolClasses ?? []
        return (sessionConfiguration.protocolClasses ?? [])
            .contains { own in !standard.contains { $0 == own } }
    }

    private var hasOwnLimits: Bool {
        let (own, standard) = (sessionConfiguration, Self.standard)
        return own.timeoutIntervalForRequest != standard.timeoutIntervalForRequest
            || own.httpMaximumConnectionsPerHost != standard.httpMaximumConnectionsPerHost
    }

    private static var standard: URLSessionConfiguration { .default }

    /// The options of the session's calls.
    var options: CallOptions {
        var options = CallOptions()
        if let resourceTimeout { options.timeout = .exchange(resourceTimeout) }
        if !sessionConfiguration.allowsCellularAccess { options.allowsCellular = false }
        return options
    }
}

extension Session {
    /// The limit of each request. An interceptor's retries are separate requests.
    private var resourceTimeout: Duration? {
        let limit = sessionConfiguration.timeoutIntervalForResource
        return limit > 0 && limit < Self.standard.timeoutIntervalForResource ? .seconds(limit) : nil
    }

    /// The options of the calls of a ``MoyaProvider``, whose requests an ``IdleTransport`` limits.
    var moyaOptions: CallOptions { .setting(\.timeout, .exchange(resourceTimeout ?? IdleTransport.longestTime)) }
}

extension URLSessionConfiguration {
    /// This configuration, or a copy with another idle timeout.
    fileprivate func with(idleTimeout: TimeInterval?) -> URLSessionConfiguration {
        guard let idleTimeout, let copy = copy() as? URLSessionConfiguration else { return self }
        copy.timeoutIntervalForRequest = idleTimeout
        return copy
    }

    #if os(Linux)
    fileprivate var idleTimeout: Duration {
        let seconds = timeoutIntervalForRequest
        return seconds > 0 && seconds < 1e9 ? .seconds(seconds) : .seconds(60)
    }
    #endif
}

/// Sends the cookies of an `HTTPCookieStorage` with each exchange, including redirects, and stores the cookies that
/// servers set.
private struct CookieStorageTransport: Transport {
    let transport: any Transport
    let storage: Unchecked<HTTPCookieStorage>

    var reportsInterimResponses: Bool { transport.reportsInterimResponses }

    var streamsResponses: Bool { transport.streamsResponses }

    var upgradesConnections: Bool { transport.upgradesConnections }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        stored(try await transport.send(withCookies(request)), of: request)
    }

    private func withCookies(_ request: TransportRequest) -> TransportRequest {
        guard request.urlRequest.httpShouldHandleCookies, let url = request.urlRequest.url,
            request.urlRequest.value(forHTTPHeaderField: "Cookie") == nil,
            let cookies = storage.value.cookies(for: url), !cookies.isEmpty,
            let value = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        else { return request }
        var request = request
        request.urlRequest.setValue(value, forHTTPHeaderField: "Cookie")
        return request
    }

    private func stored(_ response: TransportResponse, of request: TransportRequest) -> TransportResponse {
        guard request.urlRequest.httpShouldHandleCookies, let url = request.urlRequest.url else { return response }
        for field in response.head.headers.values(for: .setCookie) {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url)
            storage.value.setCookies(cookies, for: url, mainDocumentURL: request.urlRequest.mainDocumentURL)
        }
        return response
    }
}
