// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Session {
    /// Creates the transport with the session's settings.
    func makeTransport() -> any Transport {
        let configuration = sessionConfiguration
        guard let storage = configuration.httpCookieStorage, configuration.httpShouldSetCookies,
            configuration.httpCookieAcceptPolicy != .never
        else { return exchangeTransport }
        return CookieStorageTransport(transport: exchangeTransport, storage: Unchecked(storage))
    }

    private var exchangeTransport: any Transport {
        guard let serverTrustManager else { return exchangeTransport(.system) }
        return TrustingTransport(
            manager: Unchecked(serverTrustManager),
            hosts: serverTrustManager.authorities.mapValues(exchangeTransport),
            others: exchangeTransport(serverTrustManager.policy)
        )
    }

    private func exchangeTransport(_ tls: TLSPolicy) -> any Transport {
        if hasOwnProtocols { return URLSessionTransport(configuration: sessionConfiguration, tls: tls) }
        guard tls != .system || hasOwnLimits else { return SystemTransport.shared }
        #if canImport(CTargetKitCurl)
        let connections = sessionConfiguration.httpMaximumConnectionsPerHost
        return CurlTransport(
            idleTimeout: sessionConfiguration.idleTimeout,
            maxConnectionsPerHost: connections == Self.standard.httpMaximumConnectionsPerHost
                ? 128 : max(1, connections),
            tls: tls
        )
        #else
        return URLSessionTransport(configuration: sessionConfiguration, tls: tls)
        #endif
    }

    /// Whether the configuration has `URLProtocol` classes of the app's own, which only a `URLSession` can use.
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
        let limit = sessionConfiguration.timeoutIntervalForResource
        if limit > 0, limit < URLSessionConfiguration.default.timeoutIntervalForResource {
            options.timeout = .wholeCall(.seconds(limit))
        }
        if !sessionConfiguration.allowsCellularAccess { options.allowsCellular = false }
        return options
    }
}

extension URLSessionConfiguration {
    #if canImport(CTargetKitCurl)
    fileprivate var idleTimeout: Duration {
        let seconds = timeoutIntervalForRequest
        return seconds > 0 && seconds < 1e9 ? .seconds(seconds) : .seconds(60)
    }
    #endif
}

/// Sends the cookies of an `HTTPCookieStorage` with each exchange, those of redirects included, and stores those that
/// servers set.
private struct CookieStorageTransport: Transport {
    let transport: any Transport
    let storage: Unchecked<HTTPCookieStorage>

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        stored(try await transport.send(withCookies(request)), of: request)
    }

    func send(
        _ request: TransportRequest,
        cancelledBy handle: RequestHandle
    ) async throws -> TransportResponse {
        stored(try await transport.send(withCookies(request), cancelledBy: handle), of: request)
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
