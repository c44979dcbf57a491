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
        case .body: writeBody()
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
            write { line in
                line.append("→ ")
                line.append(event.method ?? "")
                line.append(" ")
                line.append(event.url ?? "")
                line.append(" (")
                line.append(event.target)
                line.append(")")
            }
        }
        if level.contains(.requestHeaders) { writeHeaders() }
        guard level.contains(.requestBody) else { return }
        let type = request.value(forHTTPHeaderField: "Content-Type")
        if event.context.bodyOutsideRequest != nil { return write("  <\(type ?? ""), read as it is sent>") }
        for line in body.lines(of: request.httpBody ?? Data(), contentType: type) { write("  " + line) }
    }

    private func writeBody() {
        guard event.isStream else { return writeResponse() }
        writeStatus { $0.append("\(event.byteCount ?? 0) bytes streamed") }
    }

    private func writeResponse() {
        guard let response = event.response else { return }
        writeStatus { line in
            if event.isStream { return line.append("a stream") }
            guard let file = response.file else {
                line.append(response.data.count)
                return line.append(" bytes")
            }
            if let metrics = response.metrics { line.append("\(metrics.bytesReceived) bytes ") }
            line.append("in " + file.path.inOneLine)
        }
        if level.contains(.responseHeaders) { writeHeaders() }
        guard level.contains(.responseBody) || (isRefused && level.contains(.errorBody)) else { return }
        let lines = body.lines(of: response.data, contentType: response.headers[.contentType])
        for line in lines { write("  " + line) }
    }

    private func writeStatus(_ size: (inout LineBytes) -> Void) {
        guard let response = event.response, level.contains(.response) || (isRefused && level.contains(.failure)) else {
            return
        }
        write { line in
            line.append("← ")
            line.append(response.statusCode)
            line.append(" ")
            line.append(event.target)
            line.append(", ")
            size(&line)
            if response.origin != .network { line.append(", from \(response.origin)") }
            appendTime(to: &line)
            if response.metrics?.trustedBlindly == true { line.append(", the server's certificate was NOT CHECKED") }
        }
    }

    private func writeFailure() {
        guard let error = event.error, level.contains(.failure) else { return }
        if let addition = event.addition { return write("✗ \(event.target): \(addition)") }
        write { line in
            line.append("✗ ")
            line.append(error.description)
            if event.step == .failed { appendTime(to: &line) }
        }
    }

    private func writeHeaders() {
        for field in event.headers { write("  \(field.name): \(field.value)") }
    }

    private func write(_ text: String) { write { $0.append(text) } }

    private func write(_ body: (inout LineBytes) -> Void) {
        var line = LineBytes()
        line.append("[")
        line.append(event.call.description)
        line.append(".")
        line.append(event.attempt)
        line.append("] ")
        body(&line)
        output(line.text)
    }
}

extension LogLines {
    private var body: LogBody { LogBody(redaction: event.secrets, limit: bodyLimit) }

    /// Whether the target doesn't accept the response, or its status is 400 or higher.
    private var isRefused: Bool { event.isRefused || (event.statusCode ?? 0) >= 400 }

    private func appendTime(to line: inout LineBytes) {
        guard let duration = event.duration else { return }
        line.append(", ")
        line.append(duration)
    }
}

/// The bytes of a line. Appending to a `String` costs twice as much.
private struct LineBytes {
    private var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(192)
    }

    /// The text. Its parts are texts, so their bytes needn't be validated.
    var text: String {
        #if compiler(>=6.2)
        if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return String(copying: UTF8Span(unchecked: bytes.span))
        }
        #endif
        return String(decoding: bytes, as: UTF8.self)
    }

    mutating func append(_ text: String) {
        ContiguousText.read(text) { bytes.append(contentsOf: $0) }
    }

    /// Appends a number in decimal digits.
    mutating func append(_ number: Int) {
        if number < 0 { return append(number.description) }
        if number > 9 { append(number / 10) }
        bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// Appends a duration, without a formatter, which takes longer than a stubbed call.
    mutating func append(_ duration: Duration) {
        let (seconds, attoseconds) = LongestWait.limited(duration).components
        let tenths = Int(seconds * 10_000 + (attoseconds + 50_000_000_000_000) / 100_000_000_000_000)
        append(tenths / 10)
        append(".")
        append(tenths % 10)
        append(" ms")
    }
}
