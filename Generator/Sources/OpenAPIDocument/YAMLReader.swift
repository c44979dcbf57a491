// SPDX-License-Identifier: MIT
import Yams

/// Reads YAML text. Scalars are read by YAML 1.2's core schema: `on` and `no` are strings, as OpenAPI requires.
struct YAMLReader {
    /// More nodes than any document has, so that nested aliases cannot fill the memory.
    private static let maximumCount = 5_000_000

    private var count = 0

    static func read(_ text: String) throws -> Node {
        do {
            guard let root = try Yams.compose(yaml: text) else {
                throw SyntaxError(line: 1, column: 1, message: "the file is empty")
            }
            var reader = YAMLReader()
            return try reader.node(root, depth: 0)
        } catch let error as YamlError {
            throw syntaxError(error)
        }
    }

    private mutating func node(_ node: Yams.Node, depth: Int) throws(SyntaxError) -> Node {
        count += 1
        guard depth < 256, count < Self.maximumCount else {
            let line = node.mark?.line ?? 1
            let limit = depth < 256 ? "\(Self.maximumCount) values" : "256 levels"
            throw SyntaxError(line: line, column: node.mark?.column ?? 1, message: "more than \(limit)")
        }
        switch node {
        case .scalar(let scalar):
            return YAMLScalar.node(scalar)
        case .sequence(let sequence):
            var elements: [Node] = []
            elements.reserveCapacity(sequence.count)
            for element in sequence { elements.append(try self.node(element, depth: depth + 1)) }
            return .array(elements)
        case .mapping(let mapping):
            return .object(try members(of: mapping, depth: depth))
        case .alias:
            return .null
        }
    }

    private mutating func members(of mapping: Yams.Node.Mapping, depth: Int) throws(SyntaxError) -> Node.Members {
        var members = Node.Members()
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                let mark = key.mark
                throw SyntaxError(line: mark?.line ?? 1, column: mark?.column ?? 1, message: "a key must be a string")
            }
            let value = try node(value, depth: depth + 1)
            guard name == "<<", let merged = value.object ?? value.array?.first?.object else {
                members[name] = value
                continue
            }
            for (name, value) in merged.pairs where !members.contains(name) { members[name] = value }
        }
        return members
    }

    private static func syntaxError(_ error: YamlError) -> SyntaxError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            SyntaxError(line: mark.line, column: mark.column, message: problem)
        case .duplicatedKeysInMapping(let duplicates, let context):
            SyntaxError(
                line: context.mark.line,
                column: context.mark.column,
                message: "the mapping has the key “\(duplicates.min() ?? "")” twice"
            )
        case .reader(let problem, _, _, _):
            SyntaxError(line: 1, column: 1, message: "\(problem); save the file as UTF-8 text")
        default:
            SyntaxError(line: 1, column: 1, message: "\(error)")
        }
    }
}

/// The scalars of YAML 1.2's core schema (§10.3).
enum YAMLScalar {
    static func node(_ scalar: Yams.Node.Scalar) -> Node {
        guard scalar.style == .plain || scalar.style == .any else { return .string(scalar.string) }
        if scalar.tag.description == "tag:yaml.org,2002:str" { return .string(scalar.string) }
        return plain(scalar.string)
    }

    static func plain(_ text: String) -> Node {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        guard let first = text.utf8.first, "+-.0123456789".utf8.contains(first) else { return .string(text) }
        if isJSONNumber(text) { return .number(text) }
        if text.hasPrefix("0x"), let number = Int(text.dropFirst(2), radix: 16) { return .number("\(number)") }
        if text.hasPrefix("0o"), let number = Int(text.dropFirst(2), radix: 8) { return .number("\(number)") }
        return otherNumber(text)
    }

    /// `+5`, `.5`, `5.` and `007` are numbers in YAML and not in JSON.
    private static func otherNumber(_ text: String) -> Node {
        let unsigned = text.drop { $0 == "+" || $0 == "-" }
        guard text.utf8.count - unsigned.utf8.count <= 1,
            unsigned.utf8.allSatisfy({ "0123456789.eE+-".utf8.contains($0) }),
            unsigned.contains(where: \.isNumber), let number = Double(text)
        else { return .string(text) }
        if let whole = Int(exactly: number) { return .number("\(whole)") }
        return .number("\(number)")
    }

    /// Whether the text is a number by RFC 8259 §6.
    static func isJSONNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: isDigit)
            guard !digits.isEmpty else { return false }
            rest = rest.dropFirst(digits.count + 1)
        }
        guard let mark = rest.first else { return true }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return !rest.isEmpty && rest.allSatisfy(isDigit)
    }
}
