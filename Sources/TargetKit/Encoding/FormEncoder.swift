// SPDX-License-Identifier: MIT

/// The `Encoder` for forms, and its container of a single value.
struct FormEncoder: Encoder, SingleValueEncodingContainer {
    let node: FormNode
    let codingPath: [any CodingKey]
    let rules: URLEncodedFormEncoder

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.become(.object)
        return KeyedEncodingContainer(FormKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.become(.list)
        return FormUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() {}
    func encode<Value: Encodable>(_ value: Value) throws {
        // An integer encodes itself here.
        if value is any BinaryInteger { try write(value) } else { try add(value) }
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
    func add<Value: Encodable>(_ value: Value) throws {
        // A comparison of types. A cast takes 150 instructions.
        switch Value.self {
        case is String.Type, is Bool.Type, is Double.Type, is Float.Type, is Date.Type, is Data.Type, is Decimal.Type,
            is URL.Type:
            try write(value)
        default:
            guard codingPath.count < ParameterEncodingError.maximumDepth else { throw failure(.tooDeep) }
            try value.encode(to: self)
        }
    }

    /// Writes a value in the format of parameters.
    private func write(_ value: some Encodable) throws {
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
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.nested(key).add(value) }

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
    func encode<Value: Encodable>(_ value: Value) throws { try encoder.nestedElement().add(value) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder.nestedElement().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.nestedElement().unkeyedContainer()
    }

    /// Returns an encoder for a new element, or for this node if it already has named values.
    func superEncoder() -> any Encoder {
        encoder.node.kind == .object ? encoder : encoder.nestedElement()
    }
}

/// A node in the tree of values that an `Encodable` encodes.
///
/// It is a class because an `Encodable` can have several containers for the same node at the same time. It exists only
/// during one call of `encode`.
final class FormNode {
    enum Kind {
        /// Nothing is written yet.
        case empty
        case value
        case list
        case object
    }

    private(set) var kind = Kind.empty
    private var value = JSONValue.null
    /// The elements of a list, or the named children of an object in the order of their first use.
    private var children: [(key: String, node: FormNode)] = []
    private var positions: [String: Int] = [:]

    /// Replaces the content with a value.
    func set(_ value: JSONValue) { (kind, self.value) = (.value, value) }

    /// Makes an empty node a list or an object, so that an empty one is distinct from no value.
    func become(_ kind: Kind) {
        if self.kind == .empty { self.kind = kind }
    }

    /// The child with a name, created if needed. Replaces any other content with an object.
    func child(named name: String) -> FormNode {
        if let position = positions[name], kind == .object { return children[position].node }
        let node = newChild(of: .object, named: name)
        positions[name] = children.count - 1
        return node
    }

    /// A new element at the end of the list. Replaces any other content with a list.
    func newElement() -> FormNode { newChild(of: .list) }

    private func newChild(of kind: Kind, named name: String = "") -> FormNode {
        if self.kind != kind { (self.kind, children, positions) = (kind, [], [:]) }
        let node = FormNode()
        children.append((name, node))
        return node
    }

    /// The number of elements in the list.
    var count: Int { kind == .list ? children.count : 0 }
}

extension FormNode {
    /// The content without empty nodes, as ``FormWriter`` writes it; `nil` if the node is empty.
    func value(rules: URLEncodedFormEncoder) -> JSONValue? {
        switch kind {
        case .empty: return nil
        case .value: return value
        case .list: return .array(arranged(rules).compactMap { $0.node.value(rules: rules) })
        case .object:
            let members = children.compactMap { name, node in node.value(rules: rules).map { (key: name, value: $0) } }
            return .object(JSONObject(written: rules.alphabetizeKeyValuePairs ? members.sortedByKey() : members))
        }
    }

    /// The elements in order.
    ///
    /// A reader can't distinguish nested arrays without an index in their names. They are grouped by depth, deepest
    /// first, followed by objects, as in Alamofire.
    private func arranged(_ rules: URLEncodedFormEncoder) -> [(key: String, node: FormNode)] {
        if case .indexed = rules.arrayEncoding { return children }
        guard rules.alphabetizeKeyValuePairs else { return children }
        return children.ordered { $0.node.listDepth > $1.node.listDepth }
    }

    /// The number of levels of nested arrays.
    private var listDepth: Int { kind == .list ? 1 + (children.first?.node.listDepth ?? 0) : 0 }
}
