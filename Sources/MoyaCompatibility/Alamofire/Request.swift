// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A request that a session sends, for interceptors and plugins.
public final class Request: RequestType, Sendable {
    private struct State: Sendable {
        var requests: [URLRequest] = []
        var response: HTTPURLResponse?
        var retryCount = 0
        var error: AFError?
        var handle: RequestHandle?
        var isCancelled = false
        var credential: Unchecked<URLCredential>?
        /// The header fields in which plugins put secrets, which textual forms redact.
        var secretHeaders: Set<HTTPHeaderName> = HeaderRedaction.standard.secretNames
    }

    /// The identifier of the request.
    public let id = UUID()
    /// The header fields that the session adds to the request.
    public let sessionHeaders: [String: String]
    private let state = Locked(State())

    init(session: Session, request: URLRequest? = nil) {
        sessionHeaders = session.additionalHeaders
        if let request { state.withLock { $0.requests = [request] } }
    }

    /// The requests that were sent, one for each attempt.
    public var requests: [URLRequest] { state.withLock(\.requests) }
    /// The first request that was sent; `nil` if none was.
    public var firstRequest: URLRequest? { requests.first }
    /// The last request that was sent; `nil` if none was.
    public var lastRequest: URLRequest? { requests.last }
    /// The last request that was sent; `nil` if none was.
    public var request: URLRequest? { requests.last }
    /// The response of the last attempt; `nil` if there is none.
    public var response: HTTPURLResponse? { state.withLock(\.response) }
    /// The number of retries so far.
    public var retryCount: Int { state.withLock(\.retryCount) }
    /// The failure of the last attempt; `nil` if there is none.
    public var error: AFError? { state.withLock(\.error) }
    /// Whether the request was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled || $0.handle?.isCancelled == true } }
    /// The exchange of the last attempt, for `request.task?.response`.
    public var task: RequestTask? {
        state.withLock { $0.requests.isEmpty ? nil : RequestTask(request: $0.requests.last, response: $0.response) }
    }

    /// Cancels the request.
    @discardableResult
    public func cancel() -> Self {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
        return self
    }

    /// Responds to the server's challenge with a user name and password.
    @discardableResult
    public func authenticate(
        username: String,
        password: String,
        persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(with: URLCredential(user: username, password: password, persistence: persistence))
    }

    /// Responds to the server's challenge with a credential.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        let credential = Unchecked(credential)
        state.withLock { $0.credential = credential }
        return self
    }

    /// Passes the request as a cURL command to a closure, without the values of fields with secrets.
    @discardableResult
    public func cURLDescription(calling handler: @escaping (String) -> Void) -> Self {
        handler(cURLDescription())
        return self
    }

    /// The request as a cURL command, without the values of fields with secrets.
    public func cURLDescription() -> String {
        guard let request else { return "$ curl command could not be created" }
        return request.curlCommand(sessionHeaders, redaction: redaction)
    }
}

/// The exchange of a request.
public struct RequestTask: Sendable {
    let request: URLRequest?
    /// The response; `nil` if there is none.
    public let response: URLResponse?
    /// The request that was sent.
    public var originalRequest: URLRequest? { request }
    /// The request that was sent.
    public var currentRequest: URLRequest? { request }
}

extension Request: RedactedDescription {
    /// The method, the URL without secrets, and the status.
    package var redactedDescription: String {
        guard let request else { return "No request created yet." }
        let status = response.map { " (\($0.statusCode))" } ?? ""
        return "\(request.httpMethod ?? "GET") \(request.url?.loggedText ?? "no URL")\(status)"
    }
}

extension Request {
    /// The fields whose values textual forms omit.
    var redaction: HeaderRedaction { HeaderRedaction(secretNames: state.withLock(\.secretHeaders)) }

    var credential: URLCredential? { state.withLock(\.credential)?.value }

    /// Connects the request to the call that sends it. If the request was already cancelled, cancels the call.
    func attach(_ handle: RequestHandle) {
        let isCancelled = state.withLock { state in
            state.handle = handle
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    /// Records the request of an attempt. Each plugin calls this method.
    func record(_ request: URLRequest, attempt: Int, secretHeaders: Set<HTTPHeaderName>) {
        state.withLock { state in
            if state.requests.count > attempt {
                state.requests[attempt] = request
            } else {
                state.requests.append(request)
            }
            state.retryCount = attempt
            state.secretHeaders = secretHeaders
        }
    }

    func didReceive(_ response: HTTPURLResponse?, error: AFError?) {
        state.withLock { ($0.response, $0.error) = (response, error) }
    }
}

extension Request: Hashable {
    /// Whether both are the same request.
    public static func == (left: Request, right: Request) -> Bool { left.id == right.id }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

extension URLRequest {
    /// The request as a cURL command over several lines.
    fileprivate func curlCommand(_ sessionHeaders: [String: String], redaction: HeaderRedaction) -> String {
        guard let url, let httpMethod else { return "$ curl command could not be created" }
        var parts = ["$ curl -v", "-X \(httpMethod)"]
        let fields = sessionHeaders.merging(allHTTPHeaderFields ?? [:]) { $1 }
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where name.lowercased() != "cookie" {
            let shown = redaction.loggedValue(value, for: HTTPHeaderName(rawValue: name))
            parts.append("-H \(Self.quoted("\(name): \(shown)"))")
        }
        if let httpBody {
            parts.append(
                "-d \(Self.quoted(NetworkLoggerPlugin.Configuration.Formatter.defaultDataFormatter(httpBody)))"
            )
        }
        parts.append(Self.quoted(url.loggedText))
        return parts.joined(separator: " \\\n\t")
    }

    /// The text in double quotes, escaped so that the shell expands nothing.
    private static func quoted(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "\\\"$`".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return "\"\(escaped)\""
    }
}
