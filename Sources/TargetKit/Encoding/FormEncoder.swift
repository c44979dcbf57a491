// SPDX-License-Identifier: MIT

import Foundation

/// The `Encoder` that an `Encodable` sees when it is written as a form.
struct FormEncoder: Encoder {
    let node: FormNode
    let codingPath: [any CodingKey]
    let rules: URLEncodedFormEncoder

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObjectIfEmpty()
        return KeyedEncodingContainer(FormKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeListIfEmpty()
        return FormUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        FormValueContainer(encoder: self)
    }

    /// The encoder for the place under a key.
    func nested(_ key: any CodingKey) -> Self {
        Self(node: node.child(named: key.stringValue), codingPath: codingPath + [key], rules: rules)
    }

    /// The encoder for a new element at the end.
    func nestedElement() -> Self {
        let index = node.count
        return Self(node: node.newElement(), codingPath: codingPath + [IndexKey(index)], rules: rules)
    }
}

extension FormEncoder {
    /// Writes any value: those that Foundation would encode in its own private form by our rules, others by their own.
    func encode<Value: Encodable>(_ value: Value) throws {
        guard codingPath.count < ParameterEncodingError.maximumDepth else { throw failure(.tooDeep) }
        switch value {
        case let text as String: node.set(text)
        case let date as Date: try encode(date)
        case let data as Data: try encode(data)
        case let decimal as Decimal: try rethrowing { node.set(try NumberText.text(decimal)) }
        case let url as URL: node.set(url.absoluteString)
        default: try value.encode(to: self)
        }
    }

    func encode(_ flag: Bool) {
        switch rules.boolEncoding {
        case .numeric: node.set(flag ? "1" : "0")
        case .literal: node.set(flag ? "true" : "false")
        }
    }

    func encode(_ number: some BinaryFloatingPoint & LosslessStringConvertible) throws {
        try rethrowing { node.set(String(try NumberText.text(number))) }
    }

    func encodeNil() {
        rules.nilEncoding.replacement.map(node.set)
    }

    private func encode(_ date: Date) throws {
        try rethrowing {
            switch try rules.dateEncoding.form(of: date) {
            case .number(let number): node.set(String(try NumberText.text(number)))
            case .text(let text): node.set(text)
            }
        }
    }

    private func encode(_ data: Data) throws {
        if let text = try rules.dataEncoding.text(of: data) {
            node.set(text)
        } else {
            for byte in data { node.newElement().set("\(byte)") }
        }
    }

    /// Adds the coding path to an error that was thrown without one.
    private func rethrowing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ParameterEncodingError where error.keyPath.isEmpty {
            throw failure(error.reason)
        }
    }

    private func failure(_ reason: ParameterEncodingError.Reason) -> ParameterEncodingError {
        let names = codingPath.map(\.stringValue)
        return ParameterEncodingError(reason, at: (names.first ?? "") + names.dropFirst().map { "[\($0)]" }.joined())
    }
}
