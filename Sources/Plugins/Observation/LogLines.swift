// SPDX-License-Identifier: MIT
import TargetKit

/// The lines of a ``NetworkLoggerPlugin`` about one event.
struct LogLines {
    let event: CallEvent
    let level: NetworkLoggerPlugin.Level
    let bodyLimit: Int
    let output: @Sendable (String) -> Void

    /// Whether there can be lines about an event. Most events have none, and are large values.
    static func describe(_ event: CallEvent) -> Bool {
        switch event.step {
        case .sent, .body, .failed, .dropped: true
        case .head: event.isStream
        case .finished: event.error != nil
        case .prepared, .retry: false
        }
    }

    func write() {
        switch event.step {
        case .sent: writeRequest()
        case .head: if event.isStream { writeResponse() }
        case .body: if event.isStream { writeStatus("\(event.byteCount ?? 0) bytes streamed") } else { writeResponse() }
        case .failed, .finished: writeFailure()
        case .dropped: if level.contains(.failure) { write("✗ \(event.target): \(event.reason ?? "")") }
        case .prepared, .retry: break
        }
    }

    private func writeRequest() {
        guard let request = event.request else { return }
        if level.contains(.curl) {
            return write("→ " + CurlCommand(request, body: body, context: event.context).text)
        }
        if level.contains(.request) {
            write(["→ ", event.method ?? "", " ", event.url ?? "", " (", event.target, ")"])
        }
        if level.contains(.requestHeaders) { writeHeaders() }
        guard level.contains(.requestBody) else { return }
        let type = request.value(forHTTPHeaderField: "Content-Type")
        if event.context.bodyOutsideRequest != nil { return write("  <\(type ?? ""), read as it is sent>") }
        for line in body.lines(of: request.httpBody ?? Data(), contentType: type) { write("  " + line) }
    }

    private func writeResponse() {
        guard let response = event.response else { return }
        writeStatus(event.isStream ? "a stream" : response.size)
        if level.contains(.responseHeaders) { writeHeaders() }
        guard level.contains(.responseBody) || (isRefused && level.contains(.errorBody)) else { return }
        let lines = body.lines(of: response.data, contentType: response.headers[.contentType])
        for line in lines { write("  " + line) }
    }

    private func writeStatus(_ size: String) {
        guard let response = event.response, level.contains(.response) || (isRefused && level.contains(.failure)) else {
            return
        }
        let warning = response.metrics?.trustedBlindly == true ? ", the server's certificate was NOT CHECKED" : ""
        let origin = response.origin == .network ? "" : ", from \(response.origin)"
        write(["← ", response.statusCode.description, " ", event.target, ", ", size, origin, time, warning])
    }

    private func writeFailure() {
        guard let error = event.error, level.contains(.failure) else { return }
        if let addition = event.addition { return write("✗ \(event.target): \(addition)") }
        write("✗ \(error.description)\(event.step == .failed ? time : "")")
    }

    private func writeHeaders() {
        for field in event.headers { write("  \(field.name): \(field.value)") }
    }

    private func write(_ text: String) { write([text]) }

    private func write(_ parts: [String]) {
        let start = ["[", event.call.description, ".", event.attempt.description, "] "]
        output((start + parts).joined())
    }
}

extension LogLines {
    private var body: LogBody { LogBody(redaction: event.secrets, limit: bodyLimit) }

    /// Whether the target doesn't accept the response, or its status is 400 or higher.
    private var isRefused: Bool { event.isRefused || (event.statusCode ?? 0) >= 400 }

    private var time: String { event.duration.map { ", " + Self.milliseconds($0) } ?? "" }

    /// Written without a formatter, which takes longer than a stubbed call.
    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = LongestWait.limited(duration).components
        let tenths = seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}

extension Response {
    fileprivate var size: String {
        guard let file else { return "\(data.count) bytes" }
        let path = file.path.inOneLine
        return metrics.map { "\($0.bytesReceived) bytes in \(path)" } ?? "in \(path)"
    }
}
