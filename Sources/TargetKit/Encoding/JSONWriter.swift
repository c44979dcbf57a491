// SPDX-License-Identifier: MIT

import Foundation

/// Writes values of types known only at run time as JSON, straight into one buffer.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let rules: JSONEncoding

    init(rules: JSONEncoding, capacity: Int) {
        self.rules = rules
        bytes.reserveCapacity(capacity)
    }

    /// Writes the object that is the whole text.
    mutating func write(root pairs: [ParameterPair]) throws {
        try write(pairs, depth: 0)
    }

    private mutating func write<T>(_ value: T, depth: Int) throws {
        switch try ParameterValue(value) {
        case .text(let text): write(text)
        case .digits(let digits): bytes.append(contentsOf: digits.utf8)
        case .signed(let number): NumberText.append(number, to: &bytes)
        case .unsigned(let number): NumberText.append(number, to: &bytes)
        case .double(let number): bytes.append(contentsOf: try NumberText.text(number).utf8)
        case .float(let number): bytes.append(contentsOf: try NumberText.text(number).utf8)
        case .decimal(let number): bytes.append(contentsOf: try NumberText.text(number).utf8)
        case .bool(let flag): append(flag ? "true" : "false")
        case .date(let date): try write(date)
        case .data(let data): try write(data, depth: depth)
        case .missing, .null: append("null")
        case .list(let list): try write(list, depth: depth)
        case .pairs(let pairs): try write(try pairs.parameterPairs(sorted: rules.sortedKeys), depth: depth)
        }
    }

    private mutating func write(_ pairs: [ParameterPair], depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        append("{")
        var isFirst = true
        for (key, value) in pairs {
            startElement(isFirst: isFirst, depth: depth + 1)
            isFirst = false
            write(key)
            append(rules.pretty ? " : " : ":")
            do {
                try write(value, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: depth == 0)
            }
        }
        endElements(isEmpty: isFirst, depth: depth)
        append("}")
    }

    private mutating func write(_ list: any ParameterList, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        append("[")
        var index = 0
        try list.forEachParameter { element in
            startElement(isFirst: index == 0, depth: depth + 1)
            do {
                try write(element, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside("\(index)", isRoot: false)
            }
            index += 1
        }
        endElements(isEmpty: index == 0, depth: depth)
        append("]")
    }

    private mutating func write(_ date: Date) throws {
        switch try rules.dates.form(of: date) {
        case .number(let number): bytes.append(contentsOf: try NumberText.text(number).utf8)
        case .text(let text): write(text)
        }
    }

    private mutating func write(_ data: Data, depth: Int) throws {
        if let text = try rules.data.text(of: data) {
            write(text)
        } else {
            try write(Array(data), depth: depth)
        }
    }

    private mutating func startElement(isFirst: Bool, depth: Int) {
        if !isFirst { append(",") }
        breakLine(depth: depth)
    }

    private mutating func endElements(isEmpty: Bool, depth: Int) {
        if !isEmpty { breakLine(depth: depth) }
    }

    private mutating func breakLine(depth: Int) {
        guard rules.pretty else { return }
        append("\n")
        for _ in 0..<depth { append("  ") }
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}

extension JSONWriter {
    /// Writes a string with its quotes. RFC 8259 §7 asks to escape `"`, `\` and the control characters below U+0020, and
    /// nothing else.
    private mutating func write(_ text: String) {
        append("\"")
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { writeEscaped($0) }
        if isDone == nil { Array(text.utf8).withUnsafeBufferPointer { writeEscaped($0) } }
        append("\"")
    }

    private mutating func writeEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for (index, byte) in text.enumerated() where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            bytes.append(contentsOf: text[start..<index])
            start = index + 1
            switch byte {
            case UInt8(ascii: "\""): append("\\\"")
            case UInt8(ascii: "\\"): append("\\\\")
            case 0x08: append("\\b")
            case 0x09: append("\\t")
            case 0x0A: append("\\n")
            case 0x0C: append("\\f")
            case 0x0D: append("\\r")
            default:
                append("\\u00")
                bytes.append(UInt8(ascii: "0") + byte >> 4)
                bytes.append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") - 10 + byte & 15)
            }
        }
        bytes.append(contentsOf: text[start...])
    }
}
