// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// JSON text of a value, and Swift literals of JSON text.
enum JSONText {
    /// The value on one line.
    static func compact(_ value: Node) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text): text
        case .string(let text): quoted(text)
        case .array(let elements): "[" + elements.map(compact).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.pairs.map { quoted($0) + ":" + compact($1) }.joined(separator: ",") + "}"
        }
    }

    /// The value with a line for each member and element.
    static func pretty(_ value: Node, indentation: String = "") -> String {
        let inner = indentation + "  "
        switch value {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + pretty($0, indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n" + indentation + "]"
        case .object(let members) where !members.isEmpty:
            let lines = members.pairs.map { inner + quoted($0) + ": " + pretty($1, indentation: inner) }
            return "{\n" + lines.joined(separator: ",\n") + "\n" + indentation + "}"
        default: return compact(value)
        }
    }

    private static func quoted(_ text: String) -> String {
        // Most texts need no escapes, and the properties of a scalar take longer than its bytes.
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _
            where scalar.value < 0x20 || scalar.value == 0x7F || (0x80...0x9F).contains(scalar.value)
                || [.format, .lineSeparator, .paragraphSeparator, .spaceSeparator].contains(
                    scalar.properties.generalCategory
                )
                    && scalar != " ":
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A raw string literal of text without line breaks.
    static func literal(_ text: String) -> String {
        let marks = marks(for: text)
        return "\(marks)\"\(text)\"\(marks)"
    }

    /// So many number signs that no part of the text ends the literal or is an escape in it.
    static func marks(for text: String) -> String {
        var longest = 0
        var run: Int?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): run = 0
            case UInt8(ascii: "#"):
                run = run.map { $0 + 1 }
                longest = max(longest, run ?? 0)
            default: run = nil
            }
        }
        return String(repeating: "#", count: longest + 1)
    }
}

extension SourceWriter {
    /// Writes `start`, a literal of JSON text, and `end`: on one line if it's short, otherwise with a line a member.
    mutating func json(_ start: String, _ value: Node, _ end: String) {
        let compact = JSONText.compact(value)
        let flat = start + "(" + JSONText.literal(compact) + end + ")"
        if compact.count <= 80, fits(flat) { return line(flat) }
        let text = JSONText.pretty(value)
        let marks = JSONText.marks(for: text)
        line(start + "(")
        indented { writer in
            writer.line(marks + "\"\"\"")
            writer.lines(text)
            writer.line("\"\"\"" + marks + end)
        }
        line(")")
    }
}

extension Node {
    /// The value with the members of its objects in the order of their names.
    var sorted: Node {
        switch self {
        case .object(let members): .object(Members(members.pairs.sorted { $0.0 < $1.0 }.map { ($0, $1.sorted) }))
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}
