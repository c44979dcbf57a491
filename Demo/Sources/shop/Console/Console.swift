// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// The output: numbered steps, each with what was asked, the log of what happened, and the result.
///
/// On a terminal it has colours and a line that shows progress; in a pipe it is plain text; with `--json`, each line is an
/// object for programs.
final class Console: Sendable {
    /// How lines are written.
    enum Format: Sendable {
        case text(Terminal)
        case json
    }

    private struct State {
        var steps = 0
        /// The line that is drawn again, at the end of a terminal's output.
        var bar: String?
        var lastBar: ContinuousClock.Instant?
    }

    let language: Language
    private let format: Format
    private let write: @Sendable (String) -> Void
    private let state = Guarded(State())

    /// - Parameter write: Receives whole lines; default: standard output, with one write for each, so that lines of
    ///   different threads don't mix.
    init(
        _ format: Format = .text(.standardOutput()),
        language: Language = .english,
        write: @escaping @Sendable (String) -> Void = { text in
            // Nothing can be done about a closed output.
            try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
        }
    ) {
        self.format = format
        self.language = language
        self.write = write
    }

    /// A line by itself.
    func say(_ phrase: Phrase) {
        emit("note", ["text": .string(text(phrase))]) { _ in [text(phrase)] }
    }

    /// An empty line; nothing for programs.
    func space() {
        draw("\n")
    }

    /// The next step, and what it asks.
    func step(_ name: Phrase, asks: Phrase) {
        let number = state.withLock { state in
            state.steps += 1
            return state.steps
        }
        let fields: [String: JSONValue] = [
            "number": .count(number), "name": .string(text(name)), "asks": .string(text(asks)),
        ]
        emit("step", fields) { terminal in
            let title = String(format: "%2d  ", number) + text(name)
            return ["", terminal.hasColour ? Colour.bold.around(title) : title]
                + indented(Phrase("asks  ", "请求  "), text(asks), terminal)
        }
    }

    /// The result of a step.
    func got(_ phrase: Phrase) {
        emit("result", ["text": .string(text(phrase))]) { indented(Phrase("got   ", "结果  "), text(phrase), $0) }
    }

    /// More of the result.
    func also(_ phrase: Phrase) {
        emit("result", ["text": .string(text(phrase))]) { indented(Phrase("      ", "      "), text(phrase), $0) }
    }

    /// An error, with its kind for programs and its sentence for people.
    func failed(_ error: any Error) {
        let phrase = Phrase(error)
        var fields: [String: JSONValue] = ["text": .string(text(phrase))]
        if let error = error as? TargetKitError {
            fields["kind"] = .string("\(error.kind)")
            fields["stage"] = .string("\(error.stage)")
            fields["status"] = error.response.map { .count($0.statusCode) }
        }
        emit("failure", fields) { indented(Phrase("error ", "错误  "), text(phrase), $0, .red) }
    }

    /// A line of a plugin.
    func log(_ line: String) {
        emit("log", ["text": .string(line)]) { terminal in
            line.split(separator: "\n").flatMap { part in
                wrapped(String(part), terminal, indent: 12).map { piece in
                    let line = "          │ " + piece
                    return terminal.hasColour ? LogColour(of: String(part)).colour.around(line) : line
                }
            }
        }
    }

    /// An object for programs, with text for people.
    func record(_ event: String, _ fields: [String: JSONValue], _ phrase: Phrase) {
        emit(event, fields) { terminal in wrapped(text(phrase), terminal, indent: 0) }
    }

    /// An object for programs, and nothing for people.
    func record(_ event: String, _ fields: [String: JSONValue]) {
        if isForPrograms { emit(event, fields) { _ in [] } }
    }

    /// Text for people, as it is, which may draw over what was drawn before.
    func draw(_ text: String) {
        if !isForPrograms { put(text) }
    }

    /// Whether each line is an object for programs.
    var isForPrograms: Bool {
        switch format {
        case .json: true
        case .text: false
        }
    }

    func text(_ phrase: Phrase) -> String { phrase.text(in: language) }
}

// MARK: - Progress

extension Console {
    /// Draws the progress of a transfer, at most ten times a second. A pipe gets only the result.
    func progress(_ progress: TransferProgress) {
        switch format {
        case .json:
            guard isDue() else { return }
            emit("progress", progress.fields) { _ in [] }
        case .text(let terminal):
            guard terminal.isInteractive, isDue() else { return }
            let bar = "          " + ProgressLine(progress: progress).description
            state.withLock { $0.bar = bar }
            write("\r\u{1B}[K" + (terminal.hasColour ? Colour.cyan.around(bar) : bar))
        }
    }

    /// Removes the line that shows progress.
    func endProgress() {
        let hadBar = state.withLock { state in
            state.lastBar = nil
            return state.bar.take() != nil
        }
        if hadBar { write("\r\u{1B}[K") }
    }

    private func isDue() -> Bool {
        state.withLock { state in
            if let last = state.lastBar, last.duration(to: .now) < .milliseconds(100) { return false }
            state.lastBar = .now
            return true
        }
    }
}

// MARK: - Writing

extension Console {
    private func emit(_ event: String, _ fields: [String: JSONValue], _ lines: (Terminal) -> [String]) {
        switch format {
        case .json: put(Self.object(event, fields) + "\n")
        case .text(let terminal): put(lines(terminal).map { $0 + "\n" }.joined())
        }
    }

    private static func object(_ event: String, _ fields: [String: JSONValue]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let object = fields.merging(["event": .string(event)]) { $1 }
        return (try? encoder.encode(object)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Writes lines above the line that shows progress.
    private func put(_ text: String) {
        let bar = state.value.bar
        write(bar.map { "\r\u{1B}[K" + text + $0 } ?? text)
    }

    private func indented(_ label: Phrase, _ text: String, _ terminal: Terminal, _ colour: Colour? = nil) -> [String] {
        wrapped(text, terminal, indent: 10).enumerated().map { index, piece in
            let line = (index == 0 ? "    " + self.text(label) : "          ") + piece
            guard let colour, terminal.hasColour else { return line }
            return colour.around(line)
        }
    }

    private func wrapped(_ text: String, _ terminal: Terminal, indent: Int) -> [String] {
        guard let columns = terminal.columns else { return [text] }
        return LineBreaking.lines(of: text, columns: max(20, columns - indent))
    }
}

extension TransferProgress {
    /// The members of an object for programs.
    var fields: [String: JSONValue] {
        var fields: [String: JSONValue] = ["completed": .count(completed)]
        fields["total"] = total.map { .count($0) }
        fields["bytesPerSecond"] = bytesPerSecond.map { .count(Int64($0)) }
        fields["secondsLeft"] = remainingTime.map { .count(Int64($0 / .seconds(1))) }
        return fields
    }
}

extension JSONValue {
    /// A whole number.
    static func count(_ number: some BinaryInteger) -> JSONValue {
        .number(JSONNumber(integerLiteral: Int64(clamping: number)))
    }
}

/// The colour of a line of the log: `→` was sent, `←` was received, `✗` failed.
private struct LogColour {
    let colour: Colour

    init(of line: String) {
        if line.contains("✗") {
            colour = .red
        } else if let arrow = line.range(of: "← ") {
            colour = Self.colour(ofStatus: line[arrow.upperBound...].prefix(1))
        } else {
            colour = .faint
        }
    }

    private static func colour(ofStatus digit: Substring) -> Colour {
        switch digit {
        case "2": .green
        case "5": .red
        default: .yellow
        }
    }
}
