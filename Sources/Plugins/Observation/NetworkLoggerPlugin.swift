// SPDX-License-Identifier: MIT
import TargetKit

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
/// [8.0] ← 200 Catalog.changes, a stream, 9.8 ms
/// [8.0] ← 200 Catalog.changes, 80211 bytes streamed, 60002.1 ms
/// ```
///
/// Each line starts with the number of the call in the process and the number of the attempt, from 0. `→` means sent,
/// `←` received, and `✗` failed. The time is from `willSend` to `didReceive` or, for a stream, to the end of its body.
/// Bodies are shown up to a limit; binary and multipart bodies are summarized in one line. A failure that isn't part of
/// an attempt is logged at the end of the call, for example a body that couldn't be decoded, an interrupted stream, or
/// a call that wasn't sent. A shared exchange has a separate number. The name of the target doesn't include its
/// associated values.
///
/// Secrets are identified by the names of their fields (`Redaction`) in header fields (including
/// `Plugin.secretHeaders`), URLs, forms, JSON and XML, and as `name=value` or `name: value` in other text. Control
/// characters are escaped.
public struct NetworkLoggerPlugin: Plugin {
    private let level: Level
    private let isEnabled: @Sendable () -> Bool
    private let events: CallEvents

    /// `PluginPlace.observation`: the request is logged as it is sent.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.willSend, .didReceive, .didFinish] }

    /// Creates a logger.
    ///
    /// - Parameters:
    ///   - level: The parts of a call to log; default: a line for each request, response and failure.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - bodyLimit: The maximum number of body bytes to log; default: 4096. A longer body is truncated, and its size
    ///     is logged.
    ///   - output: Receives each line without a trailing line break, on any thread; default: prints it to standard
    ///     output. A curl command is passed as one line, but its body may contain line breaks.
    ///   - isEnabled: Whether the logger is enabled, evaluated at each hook; default: always. A disabled logger creates
    ///     no text.
    public init(
        level: Level = .basic,
        redaction: Redaction = Redaction(),
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

    /// Creates a logger that measures durations with a test's clock.
    package init(
        level: Level = .basic,
        redaction: Redaction = Redaction(),
        bodyLimit: Int = 4096,
        clock: any Clock<Duration>,
        output: @escaping @Sendable (_ line: String) -> Void,
        isEnabled: @escaping @Sendable () -> Bool = { true }
    ) {
        self.level = level
        self.isEnabled = isEnabled
        events = CallEvents(redaction: redaction, clock: clock) { event, isKnown in
            guard !isKnown, LogLines.describe(event) else { return }
            LogLines(event: event, level: level, bodyLimit: max(0, bodyLimit), output: output).write()
        }
    }

    /// Logs the request.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        if isListening { events.sent(request, context: context) }
    }

    /// Logs the response or the failure.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        if isListening { events.received(result, context: context) }
    }

    /// Logs the end of a stream, and a failure that wasn't logged with an attempt.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        if isListening { events.finished(call, context: context) }
    }

    private var isListening: Bool { !level.isEmpty && isEnabled() }
}
