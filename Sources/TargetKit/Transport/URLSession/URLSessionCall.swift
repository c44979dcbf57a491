// SPDX-License-Identifier: MIT

/// A request for URLSession, checked for features that URLSession doesn't support or handles incorrectly.
final class URLSessionCall: Sendable {
    /// One week, in seconds. It is longer than any call, and within Foundation's range on Linux, where infinity ends
    /// the process.
    static let longestTimeout: TimeInterval = 7 * 24 * 3600

    let request: URLRequest
    let url: URL
    let body: TransportRequest.Body
    /// The writer for the response's body.
    let bodyWriter: URLSessionBodyWriter
    let expansionLimit: ExpansionLimit?
    /// The timeout of the whole exchange.
    let timeout: Duration?
    let progress: (@Sendable (TransferProgress) -> Void)?

    /// Whether the response may have a body; a response to HEAD has none (RFC 9110 §9.3.2).
    var expectsBody: Bool { request.httpMethod != "HEAD" }

    /// - Parameter idleTimeout: The idle timeout in seconds, for a request without its own timeout.
    init(
        _ transportRequest: TransportRequest,
        idleTimeout: TimeInterval,
        streaming: URLSessionStreaming
    ) throws {
        var request = transportRequest.urlRequest
        guard let url = request.url else { throw URLError(.badURL) }
        self.url = url
        body = transportRequest.body
        timeout = transportRequest.timeout.map(LongestWait.limited)
        progress = transportRequest.progress
        expansionLimit = transportRequest.expansionLimit
        request.httpBody = nil
        request.httpBodyStream = nil
        request.httpShouldHandleCookies = false
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #if canImport(FoundationNetworking)
        // On Linux, libcurl decodes, and reports success for a coding that ends early.
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        #endif
        // Linux rounds down to whole seconds, and 0 expires immediately.
        let idle = timeout == nil ? idleTimeout.rounded(.up) : Self.longestTimeout
        request.timeoutInterval = idle > 0 ? min(idle, Self.longestTimeout) : Self.longestTimeout
        do throws(TransportFailure) {
            request.url = try Self.address(of: url)
            self.request = request
            bodyWriter = try URLSessionBodyWriter(transportRequest.destination, streaming: streaming)
            if let timeout, timeout <= .zero { throw TransportFailure.timedOut }
            try checkHead()
            try checkBody()
        } catch {
            throw error.error(for: url)
        }
    }

    /// The URL without `user:password@` (RFC 3986 §3.2.1). Linux would send it as an Authorization header.
    private static func address(of url: URL) throws(TransportFailure) -> URL {
        guard url.hasHTTPScheme else { throw .unsupportedScheme }
        guard url.isCallable else { throw .missingHost }
        guard url.user != nil || url.password != nil else { return url }
        let text = url.absoluteString
        guard let start = text.range(of: "//")?.upperBound else { return url }
        let authority = text[start...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return url }
        let bare = String(text[..<start]) + String(text[text.index(after: at)...])
        return URL(string: bare) ?? url
    }

    /// Foundation on Linux sends the method and names unchanged, including line breaks, and drops a value with a line
    /// break.
    private func checkHead() throws(TransportFailure) {
        guard (request.httpMethod ?? "GET").isToken else {
            throw TransportFailure(.badURL, message: "the method isn't a token (RFC 9110 §9.1)")
        }
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            guard name.isToken, !value.endsHeaderField else {
                throw TransportFailure(
                    .badURL,
                    message:
                        "the header field \(name.debugDescription) isn't a token, or its value contains a line break or a NUL"
                )
            }
        }
    }

    private func checkBody() throws(TransportFailure) {
        if case .none = body { return }
        guard request.httpMethod ?? "GET" != "GET" else {
            throw TransportFailure(.dataLengthExceedsMaximum, message: "URLSession doesn't send a body with GET")
        }
        guard case .file(let file) = body else { return }
        // On Linux, a file that can't be opened would end the process or fail without its name.
        do { _ = try FileBodySource(file) } catch { throw TransportFailure(error) }
    }
}

#if !canImport(FoundationNetworking)
extension TransportRequest {
    /// The request without its body, checked for features that URLSession doesn't support.
    package func checkedForURLSession() throws -> URLRequest {
        try URLSessionCall(self, idleTimeout: URLSessionCall.longestTimeout, streaming: .paced).request
    }
}
#endif
