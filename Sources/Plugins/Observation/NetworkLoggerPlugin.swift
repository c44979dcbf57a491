// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Logs what goes out and what comes back, line by line, secrets left out.
///
/// ```swift
/// NetworkLoggerPlugin()                                               // prints a line for each request and response
/// NetworkLoggerPlugin(level: .body) { line in logger.debug("\(line)") }
/// NetworkLoggerPlugin(level: .errors, options: .init(isEnabled: { settings.isLogging }))
/// ```
///
/// ```text
/// [7.0] → GET https://shop.example/products?q=tea&token=<redacted> (Catalog.search)
/// [7.0] ← 200 Catalog.search, 1532 bytes, 12.3 ms
/// ```
///
/// Each line starts with the call's number in the process and its attempt, from 0; `→` went out, `←` came back, `✗`
/// failed. The time counts from `willSend` to `didReceive`. A body is shown up to a limit; one that is no text, or
/// made of parts, in one line about it. A failure that comes before the send, or that replaces a result, is logged
/// when the call ends. The name of the target is shown without its associated values.
///
/// Secrets are found in header fields, query items, form bodies and JSON (``LogRedaction``), not in XML or free text.
///
/// Order: after the plugins that change the request, so that it is shown as it goes out.
public struct NetworkLoggerPlugin: Plugin {
    private struct Sent: Sendable {
        let start: Duration
        /// The failure that has been logged last, and its attempt.
        var failure: (attempt: Int, stage: TargetKitError.Stage)?
    }

    private let level: Level
    private let options: Options
    private let output: @Sendable (String) -> Void
    private let elapsedTime: ElapsedTime
    private let calls = Locked<[RequestContext.ID: Sent]>([:])

    /// A logger.
    ///
    /// - Parameters:
    ///   - level: What is logged; default: a line for each request, response and failure.
    ///   - options: Redaction, body limit, clock, and whether anybody listens.
    ///   - output: Takes each line, without a line break at its end, on any thread; default: prints it to standard
    ///     output. A curl command is one line, in which a body may have line breaks.
    public init(
        level: Level = .basic,
        options: Options = Options(),
        output: @escaping @Sendable (_ line: String) -> Void = { print($0) }
    ) {
        self.level = level
        self.options = options
        self.output = output
        elapsedTime = ElapsedTime(options.clock)
    }

    /// Logs the request.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        guard isListening else { return }
        let start = elapsedTime.current
        calls.withLock { calls in
            // A network call that is shared may be repeated after its first call has been cancelled, and has ended.
            guard context.attempt == 0 || calls[context.id] != nil else { return }
            calls[context.id] = Sent(start: start, failure: calls[context.id]?.failure)
        }
        if level.contains(.curl) {
            return log("→ " + CurlCommand(request, body, context).text, context)
        }
        if level.contains(.request) {
            let url = options.redaction.url(request.url?.absoluteString ?? "")
            log("→ \(request.httpMethod ?? "GET") \(url) (\(context.target.name))", context)
        }
        if level.contains(.requestHeaders) { log(HTTPHeaders(request.allHTTPHeaderFields ?? [:]), context) }
        if level.contains(.requestBody) { logBody(of: request, context) }
    }

    /// Logs the response or the failure.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard isListening else { return }
        let now = elapsedTime.current
        let start = calls.withLock { $0[context.id]?.start }
        let time = start.map { ", " + Self.milliseconds(now - $0) } ?? ""
        switch result {
        case .success(let response):
            log(response, isError: response.statusCode >= 400, time: time, context)
        case .failure(let error):
            if let response = error.response { log(response, isError: true, time: time, context) }
            log(error, time: time, context)
            calls.withLock { $0[context.id]?.failure = (context.attempt, error.stage) }
        }
    }

    /// Logs the failure that no hook has seen, and passes the result on.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        guard !level.isEmpty else { return result }
        let sent = calls.withLock { $0.removeValue(forKey: context.id) }
        guard case .failure(let error) = result, options.isEnabled() else { return result }
        if let logged = sent?.failure, logged == (context.attempt, error.stage) { return result }
        log(error, time: "", context)
        return result
    }

    private var isListening: Bool { !level.isEmpty && options.isEnabled() }

    private var body: LogBody { LogBody(redaction: options.redaction, limit: max(0, options.bodyLimit)) }
}

extension NetworkLoggerPlugin {
    private func log(_ text: some StringProtocol, _ context: RequestContext) {
        output("[\(context.id).\(context.attempt)] \(text)")
    }

    private func log(_ headers: HTTPHeaders, _ context: RequestContext) {
        for field in headers {
            let value = options.redaction.header(field.value, name: field.name.rawValue)
            log("  \(field.name): \(value.inOneLine)", context)
        }
    }

    private func logBody(of request: URLRequest, _ context: RequestContext) {
        let type = request.value(forHTTPHeaderField: "Content-Type")
        if context.isBodyReadAsItIsSent { return log("  <\(type ?? ""), read as it is sent>", context) }
        for line in body.lines(of: request.httpBody ?? Data(), contentType: type) { log("  " + line, context) }
    }

    private func log(_ response: Response, isError: Bool, time: String, _ context: RequestContext) {
        if level.contains(.response) || (isError && level.contains(.failure)) {
            let warning = response.metrics?.trustedBlindly == true ? ", the server's certificate was NOT CHECKED" : ""
            log("← \(response.statusCode) \(context.target.name), \(response.size)\(time)\(warning)", context)
        }
        if level.contains(.responseHeaders) { log(response.headers, context) }
        guard level.contains(isError ? .errorBody : .responseBody) || level.contains(.responseBody) else { return }
        let lines = body.lines(of: response.data, contentType: response.headers[.contentType])
        for line in lines { log("  " + line, context) }
    }

    private func log(_ error: TargetKitError, time: String, _ context: RequestContext) {
        guard level.contains(.failure) else { return }
        log("✗ \(error.description.inOneLine)\(time)", context)
    }

    /// Made by hand: a formatter takes longer than a stubbed call.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = LongestWait.limited(duration).components
        let tenths = seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension Response {
    fileprivate var size: String {
        guard let file else { return "\(data.count) bytes" }
        return metrics.map { "\($0.bytesReceived) bytes in \(file.path)" } ?? "in \(file.path)"
    }
}
