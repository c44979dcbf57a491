// SPDX-License-Identifier: MIT

/// The `Encoder` for forms.
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

    /// The encoder for the value of a key.
    func nested(_ key: any CodingKey) -> Self {
        let path = codingPath + [key]
        return Self(node: node.child(named: rules.keyEncoding.name(of: path)), codingPath: path, rules: rules)
    }

    /// The encoder for a new element at the end.
    func nestedElement() -> Self {
        let index = node.count
        return Self(node: node.newElement(), codingPath: codingPath + [PathKey(index)], rules: rules)
    }
}

extension FormEncoder {
    /// Encodes a value. Types that Foundation would encode in a private format, such as `Date`, use TargetKit's format.
    func encode<Value: Encodable>(_ value: Value) throws {
        guard codingPath.count < ParameterEncodingError.maximumDepth else { throw failure(.tooDeep) }
        switch value {
        case let text as String: node.set(text)
        case let date as Date: try encode(date)
        case let data as Data: encode(data)
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

    private func encode(_ date: Date) throws {
        try rethrowing {
            switch try rules.dateEncoding.form(of: date) {
            case .number(let number): node.set(String(try NumberText.text(number)))
            case .text(let text): node.set(text)
            }
        }
    }

    private func encode(_ data: Data) {
        node.set(data.base64EncodedString())
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

/// Encodes values for keys.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    // `nil` is omitted.
    func encodeNil(forKey key: Key) {}
    func encode(_ value: Bool, forKey key: Key) { encoder.nested(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { encoder.nested(key).node.set(value) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.nested(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.nested(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.nested(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.nested(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key) }
}

/// Encodes values in order.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    func encodeNil() { _ = encoder.nestedElement() }
    func encode(_ value: Bool) { encoder.nestedElement().encode(value) }
    func encode(_ value: String) { encoder.nestedElement().node.set(value) }
    func encode(_ value: Double) throws { try encoder.nestedElement().encode(value) }
    func encode(_ value: Float) throws { try encoder.nestedElement().encode(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.nestedElement().encode(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.nestedElement().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.nestedElement().unkeyedContainer()
    }

    /// Returns an encoder for a new element, or for this node if it already has named values.
    func superEncoder() -> any Encoder {
        if case .object = encoder.node.content { return encoder }
        return encoder.nestedElement()
    }
}

/// Encodes a single value.
struct FormValueContainer: SingleValueEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() {}
    func encode(_ value: Bool) { encoder.encode(value) }
    func encode(_ value: String) { encoder.node.set(value) }
    func encode(_ value: Double) throws { try encoder.encode(value) }
    func encode(_ value: Float) throws { try encoder.encode(value) }
    func encode(_ value: Int) { encoder.node.set(value.description) }
    func encode(_ value: Int8) { encoder.node.set(value.description) }
    func encode(_ value: Int16) { encoder.node.set(value.description) }
    func encode(_ value: Int32) { encoder.node.set(value.description) }
    func encode(_ value: Int64) { encoder.node.set(value.description) }
    func encode(_ value: UInt) { encoder.node.set(value.description) }
    func encode(_ value: UInt8) { encoder.node.set(value.description) }
    func encode(_ value: UInt16) { encoder.node.set(value.description) }
    func encode(_ value: UInt32) { encoder.node.set(value.description) }
    func encode(_ value: UInt64) { encoder.node.set(value.description) }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }
}
