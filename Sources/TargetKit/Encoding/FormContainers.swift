// SPDX-License-Identifier: MIT

/// Writes values under keys.
struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.nested(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { encoder.nested(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { encoder.nested(key).node.set(value) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.nested(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.nested(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.nested(key).encode(value) }

    // The defaults leave an absent value out before the rule for `nil` is asked.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOrNil(value, forKey: key) }
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try encodeOrNil(value, forKey: key)
    }

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

    private func encodeOrNil(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value {
            try encode(value, forKey: key)
        } else {
            encodeNil(forKey: key)
        }
    }
}

/// Writes values one after the other.
struct FormUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    func encodeNil() { encoder.nestedElement().encodeNil() }
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

    /// An element of its own, unless the place already holds named values: then it writes beside those.
    func superEncoder() -> any Encoder {
        if case .object = encoder.node.content { return encoder }
        return encoder.nestedElement()
    }
}

/// Writes the one value of a place.
struct FormValueContainer: SingleValueEncodingContainer {
    let encoder: FormEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.encodeNil() }
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
