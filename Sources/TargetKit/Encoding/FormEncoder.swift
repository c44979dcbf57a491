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

/// A node in the tree of values that an `Encodable` encodes.
///
/// It is a class because an `Encodable` can have several containers for the same node at the same time. It exists only
/// during one call of `encode`.
final class FormNode {
    enum Content {
        /// Nothing is written yet.
        case empty
        case value(JSONValue)
        case list([FormNode])
        case object(FormObject)
    }

    private(set) var content = Content.empty

    /// Replaces the content with a value.
    func set(_ value: JSONValue) {
        content = .value(value)
    }

    /// Makes an empty node a list, so that an empty array is distinct from no value.
    func becomeListIfEmpty() {
        if case .empty = content { content = .list([]) }
    }

    /// Makes an empty node an object, so that an empty object is distinct from no value.
    func becomeObjectIfEmpty() {
        if case .empty = content { content = .object(FormObject()) }
    }

    /// The child with a name, created if needed. Replaces any other content with an object.
    func child(named name: String) -> FormNode {
        let object: FormObject
        if case .object(let existing) = content {
            object = existing
        } else {
            object = FormObject()
            content = .object(object)
        }
        return object.child(named: name)
    }

    /// A new element at the end of the list. Replaces any other content with a list.
    func newElement() -> FormNode {
        let node = FormNode()
        if case .list(var nodes) = content {
            content = .empty
            nodes.append(node)
            content = .list(nodes)
        } else {
            content = .list([node])
        }
        return node
    }

    /// The number of elements in the list.
    var count: Int {
        if case .list(let nodes) = content { return nodes.count }
        return 0
    }
}

extension FormNode {
    /// The content without empty nodes, as ``FormWriter`` writes it; `nil` if the node is empty.
    func value(rules: URLEncodedFormEncoder) -> JSONValue? {
        switch content {
        case .empty: return nil
        case .value(let value): return value
        case .list(let nodes): return .array(arranged(nodes, rules).compactMap { $0.value(rules: rules) })
        case .object(let object):
            let members = object.children.compactMap { name, node in
                node.value(rules: rules).map { (key: name, value: $0) }
            }
            return .object(JSONObject(written: rules.alphabetizeKeyValuePairs ? members.sortedByKey() : members))
        }
    }

    /// The elements in order.
    ///
    /// A reader can't distinguish nested arrays without an index in their names. They are grouped by depth, deepest
    /// first, followed by objects, as in Alamofire.
    private func arranged(_ nodes: [FormNode], _ rules: URLEncodedFormEncoder) -> [FormNode] {
        if case .indexed = rules.arrayEncoding { return nodes }
        guard rules.alphabetizeKeyValuePairs, nodes.contains(where: { $0.listDepth > 0 }) else { return nodes }
        return nodes.ordered { $0.listDepth > $1.listDepth }
    }

    /// The number of levels of nested arrays.
    private var listDepth: Int {
        guard case .list(let nodes) = content else { return 0 }
        return 1 + (nodes.first?.listDepth ?? 0)
    }
}

/// The named children of a node, in the order of their first use.
final class FormObject {
    private(set) var children: [(name: String, node: FormNode)] = []
    private var positions: [String: Int] = [:]

    func child(named name: String) -> FormNode {
        if let position = positions[name] { return children[position].node }
        let node = FormNode()
        positions[name] = children.count
        children.append((name, node))
        return node
    }
}
