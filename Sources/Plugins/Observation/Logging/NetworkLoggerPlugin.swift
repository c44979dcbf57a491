// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Logs requests and responses, line by line, with secrets redacted.
///
/// ```swift
/// NetworkLoggerPlugin()                                               // prints a line for each request and response
/// NetworkLoggerPlugin(level: .body) { line in logger.debug("\(line)") }
/// NetworkLoggerPlugin(level: .errors, isEnabled: { settings.isLogging })
/// ```
///
/// ```text
/// [7.0] → GET https://shop.example/products?q=tea&token=<redacted> (Catalog.search)
/// [7.0] ← 200 Catalog.search, 1532 bytes, 12.3 ms
/// ```
///
/// Each line starts with the number of the call in the process and the number of its attempt, from 0; `→` was sent, `←`
/// was received, `✗` failed. The time is from `willSend` to `didReceive`. A body is shown up to a limit; binary and
/// multipart bodies are described in one line. A failure that no attempt has shown is logged at the end of the call,
/// for example a body that could not be decoded, a stream that broke off, or a call that was not sent. An exchange that
/// calls share has a number of its own. The target is named without its associated values.
///
/// Secrets are found in header fields (also those of plugins, `Plugin.secretHeaders`), query items, form bodies and
/// JSON (``LogRedaction``), not in XML or free text.
public struct NetworkLoggerPlugin: Plugin {
    private struct Sent: Sendable {
        let start: Duration
        /// The name of the target, if it has been logged: finding it takes a reflection.
        let target: String?
        /// The failure of the last attempt, as it was logged.
        var failure: String?
    }

    private let level: Level
    private let redaction: LogRedaction
    private let bodyLimit: Int
    private let isEnabled: @Sendable () -> Bool
    private let output: @Sendable (String) -> Void
    private let elapsedTime: ElapsedTime
    private let sent = PluginStorage<Sent>()

    /// `PluginPlace.observation`: the request is logged as it is sent.
    public var place: PluginPlace { .observation }

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - level: The parts of a call to log; default: a line for each request, response and failure.
    ///   - redaction: The secrets to redact; default: `LogRedaction()`.
    ///   - bodyLimit: The maximum number of body bytes to log; default 4096. A longer body is truncated, and its size
    ///     is logged.
    ///   - output: Receives each line, without a line break at its end, on any thread; default: prints it to standard
    ///     output. A curl command is one line, in which a body may have line breaks.
    ///   - isEnabled: Whether the logger is enabled, evaluated at each hook; default: always. A disabled logger creates
    ///     no text.
    public init(
        level: Level = .basic,
        redaction: LogRedaction = LogRedaction(),
        bodyLimit: Int = 4096,
        output: @escaping @Sendable (_ line: String) -> Void = { print($0) },
        isEnabled: @escaping @Sendable () -> Bool = { true }
    ) {
        self.init(
            level: level,
            redaction: redaction,
            bodyLimit: bodyLimit,
            clock: ContinuousClock(),
            output: output,
            isEnabled: isEnabled
        )
    }

    /// Creates a logger that measures durations by a clock of the test's.
    package init(
        level: Level = .basic,
        redaction: LogRedaction = LogRedaction(),
        bodyLimit: Int = 4096,
        clock: any Clock<Duration>,
        output: @escaping @Sendable (_ line: String) -> Void,
        isEnabled: @escaping @Sendable () -> Bool = { true }
    ) {
        self.level = level
        self.redaction = redaction
        self.bodyLimit = max(0, bodyLimit)
        self.output = output
        self.isEnabled = isEnabled
        elapsedTime = ElapsedTime(clock)
    }

    /// Logs the request.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        guard isListening else { return }
        let target = level.contains(.request) ? context.target.name : nil
        context[sent] = Sent(start: elapsedTime.current, target: target)
        if level.contains(.curl) {
            return log("→ " + CurlCommand(request, body(in: context), context).text, context)
        }
        if level.contains(.request) {
            let url = redaction.url(request.url?.absoluteString ?? "")
            log("→ \(request.httpMethod ?? "GET") \(url) (\(target ?? ""))", context)
        }
        if level.contains(.requestHeaders) { log(HTTPHeaders(request.allHTTPHeaderFields ?? [:]), context) }
        if level.contains(.requestBody) { logBody(of: request, context) }
    }

    /// Logs the response or the failure.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        guard isListening else { return }
        let time = context[sent].map { ", " + Self.milliseconds(elapsedTime.current - $0.start) } ?? ""
        switch result {
        case .success(let response):
            log(response, isError: response.statusCode >= 400, time: time, context)
        case .failure(let error):
            if let response = error.response { log(response, isError: true, time: time, context) }
            log(error, time: time, context)
            context[sent]?.failure = error.logged
        }
    }

    /// Logs a failure that no attempt has shown.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        guard case .failure(let error) = call.result, isListening else { return }
        if let logged = context[sent]?.failure, logged == error.logged { return }
        log(error, time: "", context)
    }

    private var isListening: Bool { !level.isEmpty && isEnabled() }

    private func body(in context: RequestContext) -> LogBody {
        LogBody(redaction: redaction(in: context), limit: bodyLimit)
    }

    private func redaction(in context: RequestContext) -> LogRedaction {
        redaction.adding(context.secretHeaders)
    }
}

extension NetworkLoggerPlugin {
    private func log(_ text: some StringProtocol, _ context: RequestContext) {
        output("[\(context.id).\(context.attempt)] \(text)")
    }

    private func log(_ headers: HTTPHeaders, _ context: RequestContext) {
        let redaction = redaction(in: context)
        for field in headers {
            let value = redaction.header(field.value, name: field.name.rawValue)
            log("  \(field.name): \(value.inOneLine)", context)
        }
    }

    private func logBody(of request: URLRequest, _ context: RequestContext) {
        let type = request.value(forHTTPHeaderField: "Content-Type")
        if context.bodyOutsideRequest != nil { return log("  <\(type ?? ""), read as it is sent>", context) }
        let lines = body(in: context).lines(of: request.httpBody ?? Data(), contentType: type)
        for line in lines { log("  " + line, context) }
    }

    private func log(_ response: Response, isError: Bool, time: String, _ context: RequestContext) {
        if level.contains(.response) || (isError && level.contains(.failure)) {
            let warning = response.metrics?.trustedBlindly == true ? ", the server's certificate was NOT CHECKED" : ""
            let target = context[sent]?.target ?? context.target.name
            log("← \(response.statusCode) \(target), \(response.size)\(time)\(warning)", context)
        }
        if level.contains(.responseHeaders) { log(response.headers, context) }
        guard level.contains(isError ? .errorBody : .responseBody) || level.contains(.responseBody) else { return }
        let lines = body(in: context).lines(of: response.data, contentType: response.headers[.contentType])
        for line in lines { log("  " + line, context) }
    }

    private func log(_ error: TargetKitError, time: String, _ context: RequestContext) {
        guard level.contains(.failure) else { return }
        log("✗ \(error.description.inOneLine)\(time)", context)
    }

    /// Without a formatter, which takes longer than a stubbed call.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = LongestWait.limited(duration).components
        let tenths = seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension TargetKitError {
    /// What identifies the error in the log: its description without what the target has made of it.
    fileprivate var logged: String {
        var error = self
        error.appError = nil
        return error.description
    }
}

extension Response {
    fileprivate var size: String {
        guard let file else { return "\(data.count) bytes" }
        return metrics.map { "\($0.bytesReceived) bytes in \(file.path)" } ?? "in \(file.path)"
    }
}
