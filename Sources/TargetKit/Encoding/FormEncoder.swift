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
        switch value {
        case is String, is Bool, is Double, is Float, is Date, is Data, is Decimal, is URL: try write(value)
        default:
            guard codingPath.count < ParameterEncodingError.maximumDepth else { throw failure(.tooDeep) }
            try value.encode(to: self)
        }
    }

    /// Writes a value in the format of parameters.
    fileprivate func write(_ value: some Encodable) throws {
        do {
            node.set(try ParameterReader(dates: rules.dateEncoding).value(value, depth: codingPath.count) ?? .null)
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
    func encode<Value: Encodable>(_ value: Value) throws {
        // An integer encodes itself here.
        if value is any BinaryInteger { try encoder.write(value) } else { try encoder.encode(value) }
    }
}
