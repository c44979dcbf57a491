// SPDX-License-Identifier: MIT

/// An expression or list that is written on one line if it fits, and otherwise with each element on a line of its own,
/// as `swift format` writes it.
indirect enum Layout {
    case text(String)
    case call(String, [Layout])
    case list([Layout])
    /// Calls that follow each other.
    case chain([Layout])

    /// The layout on one line.
    var flat: String {
        switch self {
        case .text(let text): text
        case .call(let head, let arguments): "\(head)(\(arguments.map(\.flat).joined(separator: ", ")))"
        case .list(let elements): elements.isEmpty ? "[:]" : "[\(elements.map(\.flat).joined(separator: ", "))]"
        case .chain(let calls): calls.map(\.flat).joined()
        }
    }
}

/// Writes Swift source as `swift format` would.
struct SourceWriter {
    static let width = 120

    private(set) var text = ""
    private(set) var depth = 0

    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: " ", count: 4 * depth) + line }
        text += "\n"
    }

    /// Writes lines as they are, below the current indentation.
    mutating func lines(_ lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) { self.line(String(line)) }
    }

    mutating func indented(_ body: (inout SourceWriter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Writes a head with a brace, a body, and the closing brace.
    mutating func block(_ head: String, end: String = "}", _ body: (inout SourceWriter) -> Void) {
        line(head + " {")
        indented(body)
        line(end)
    }

    /// Writes a computed property on one line, or its expression on a line of its own.
    mutating func property(_ head: String, _ source: String) {
        let flat = "\(head) { \(source) }"
        if fits(flat) { line(flat) } else { block(head) { $0.line(source) } }
    }

    /// Whether a line fits at the current indentation.
    func fits(_ line: String) -> Bool { 4 * depth + line.count <= Self.width && !line.contains("\n") }

    /// Writes `start`, the elements, and `end` on one line, or each element on a line of its own.
    mutating func list(_ start: String, _ elements: [String], _ end: String) {
        let flat = start + elements.joined(separator: ", ") + end
        if fits(flat) || elements.isEmpty { return line(flat) }
        line(start)
        indented { writer in
            for (index, element) in elements.enumerated() {
                writer.line(element + (index == elements.count - 1 ? "" : ","))
            }
        }
        line(end)
    }

    /// Writes an expression between `start` and `end`.
    mutating func expression(_ start: String, _ layout: Layout, _ end: String = "") {
        if fits(start + layout.flat + end) { return line(start + layout.flat + end) }
        switch layout {
        case .text(let text): line(start + text + end)
        case .call(let head, let arguments) where arguments.isEmpty: line("\(start)\(head)()\(end)")
        case .call(let head, let arguments): broken(start + head + "(", arguments, ")" + end, hasTrailingComma: false)
        case .list(let elements): broken(start + "[", elements, "]" + end, hasTrailingComma: elements.count > 1)
        case .chain(let calls): chain(start, calls, end)
        }
    }

    /// Writes each call on a line of its own, below the first one if that fits on one line.
    private mutating func chain(_ start: String, _ calls: [Layout], _ end: String) {
        guard let first = calls.first, calls.count > 1 else {
            return expression(start, calls.first ?? .text(""), end)
        }
        let isShort = fits(start + first.flat)
        expression(start, first)
        if isShort { depth += 1 }
        for (index, call) in calls.dropFirst().enumerated() {
            expression("", call, index == calls.count - 2 ? end : "")
        }
        if isShort { depth -= 1 }
    }

    private mutating func broken(_ start: String, _ elements: [Layout], _ end: String, hasTrailingComma: Bool) {
        line(start)
        indented { writer in
            for (index, element) in elements.enumerated() {
                let isLast = index == elements.count - 1
                writer.expression("", element, isLast && !hasTrailingComma ? "" : ",")
            }
        }
        line(end)
    }

    /// Writes the sentences of the document as a comment.
    mutating func documentation(_ text: String?) {
        guard let text else { return }
        var bytes = Array(text.utf8)
        bytes.removeAll { $0 < 0x20 && $0 != 0x0A }
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line -> String in
            var line = line
            while line.last == 0x20 { line.removeLast() }
            return String(decoding: line, as: UTF8.self)
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        lines = Array(lines.drop(while: \.isEmpty))
        for line in lines { self.line(line.isEmpty ? "///" : "/// " + line) }
    }
}
