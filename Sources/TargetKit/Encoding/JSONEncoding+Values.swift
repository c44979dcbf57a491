// SPDX-License-Identifier: MIT

import Foundation

extension JSONEncoding {
    /// Writes the object that is the whole text.
    func write(root parameters: [String: any Sendable], to json: inout ByteBuffer) throws {
        try writeObject(to: &json, depth: 0) { body in
            try KeyOrder.forEach(in: parameters, sorted: sortedKeys) { try body($0, $1) }
        }
    }

    private func write<T>(_ value: T, to json: inout ByteBuffer, depth: Int) throws {
        switch try ParameterValue.of(value) {
        case .text(let text): JSONText.append(text, to: &json)
        case .digits(let digits): json.append(digits)
        case .signed(let number): NumberText.append(number, to: &json)
        case .unsigned(let number): NumberText.append(number, to: &json)
        case .double(let number): json.append(try NumberText.text(number))
        case .float(let number): json.append(try NumberText.text(number))
        case .decimal(let number): json.append(try NumberText.text(number))
        case .bool(let flag): json.append(literal: flag ? "true" : "false")
        case .date(let date): try write(date, to: &json)
        case .data(let data): try write(data, to: &json, depth: depth)
        case .missing, .null: json.append(literal: "null")
        case .list(let list): try write(list, to: &json, depth: depth)
        case .pairs(let pairs):
            try writeObject(to: &json, depth: depth) { try pairs.forEachParameter(sorted: sortedKeys, $0) }
        }
    }

    /// Writes an object out of the pairs that `forEach` hands to the closure that it is given.
    private func writeObject(
        to json: inout ByteBuffer,
        depth: Int,
        forEach: ((String, Any) throws -> Void) throws -> Void
    ) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        json.append(UInt8(ascii: "{"))
        var isEmpty = true
        try forEach { key, value in
            startElement(isFirst: isEmpty, to: &json, depth: depth + 1)
            isEmpty = false
            JSONText.append(key, to: &json)
            json.append(literal: pretty ? " : " : ":")
            do {
                try write(value, to: &json, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside(key, isRoot: depth == 0)
            }
        }
        if !isEmpty { breakLine(to: &json, depth: depth) }
        json.append(UInt8(ascii: "}"))
    }

    private func write(_ list: any ParameterList, to json: inout ByteBuffer, depth: Int) throws {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        json.append(UInt8(ascii: "["))
        var index = 0
        try list.forEachParameter { element in
            startElement(isFirst: index == 0, to: &json, depth: depth + 1)
            do {
                try write(element, to: &json, depth: depth + 1)
            } catch let error as ParameterEncodingError {
                throw error.inside("\(index)", isRoot: false)
            }
            index += 1
        }
        if index > 0 { breakLine(to: &json, depth: depth) }
        json.append(UInt8(ascii: "]"))
    }

    private func write(_ date: Date, to json: inout ByteBuffer) throws {
        switch try dates.form(of: date) {
        case .number(let number): json.append(try NumberText.text(number))
        case .text(let text): JSONText.append(text, to: &json)
        }
    }

    private func write(_ data: Data, to json: inout ByteBuffer, depth: Int) throws {
        if let text = try self.data.text(of: data) {
            JSONText.append(text, to: &json)
        } else {
            try write(Array(data), to: &json, depth: depth)
        }
    }

    private func startElement(isFirst: Bool, to json: inout ByteBuffer, depth: Int) {
        if !isFirst { json.append(UInt8(ascii: ",")) }
        breakLine(to: &json, depth: depth)
    }

    private func breakLine(to json: inout ByteBuffer, depth: Int) {
        guard pretty else { return }
        json.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { json.append(literal: "  ") }
    }
}
