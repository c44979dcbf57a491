// SPDX-License-Identifier: MIT

/// Header fields in the order they were added, their names compared without regard to case (RFC 9110 §5).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["X-Trace"] = "7"
/// headers.add("Accept", value: "text/plain")   // a second field of that name
/// headers["accept"]                            // "application/json, text/plain"
/// ```
///
/// Two lists are equal when they hold the same values for each name; the order of fields with different names does not
/// count (RFC 9110 §5.3).
public struct HTTPHeaders: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: HTTPHeaderName
        /// The field's value, without white space around it.
        public var value: String

        /// A field of that name and value.
        public init(name: HTTPHeaderName, value: String) {
            self.name = name
            self.value = value
        }

        /// The separator between joined values of the field.
        fileprivate var separator: String { name == .cookie ? "; " : ", " }
    }

    /// The fields, in order; a name that was added twice is there twice.
    public var fields: [Field]

    /// Creates a list of the fields, in their order; default: none. Repeated names stay.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// The pairs of a dictionary, sorted by name so that the order is the same every time.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }
            .map { Field(name: HTTPHeaderName(rawValue: $0.key), value: $0.value) }
    }

    /// The value of the field of that name; `nil` when there is none.
    ///
    /// - Reading a name that is there several times gives the values joined by `", "` (RFC 9110 §5.3), those of `Cookie` by
    ///   `"; "` (RFC 6265 §5.4). Use ``values(for:)`` for `Set-Cookie`, whose values hold commas.
    /// - Writing replaces every field of that name by one, in the place of the first; `nil` removes them.
    package subscript(_ name: String) -> String? {
        get { joinedValue(for: name) }
        set { set(name, to: newValue) }
    }

    /// The value of the field of that name, as the subscript by string has it.
    public subscript(_ name: HTTPHeaderName) -> String? {
        get { joinedValue(for: name.rawValue) }
        set { set(name.rawValue, to: newValue) }
    }

    /// Adds a field after the others, also when one of that name is there.
    package mutating func add(_ name: String, value: String) {
        fields.append(Field(name: HTTPHeaderName(rawValue: name), value: value))
    }

    /// Adds a field after the others, also when one of that name is there.
    public mutating func add(_ name: HTTPHeaderName, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The values of all fields of that name, in order; empty when there is none.
    public func values(for name: HTTPHeaderName) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether a field of that name is there.
    package func contains(_ name: HTTPHeaderName) -> Bool {
        fields.contains { $0.name == name }
    }

    /// These fields with the other ones set over them: a name that both have takes the other's values.
    public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
        guard !fields.isEmpty else { return other }
        var merged = self
        if other.isLong {
            let names = Set(other.fields.map(\.name))
            merged.fields.removeAll { names.contains($0.name) }
        } else {
            merged.fields.removeAll { other.contains($0.name) }
        }
        merged.fields += other.fields
        return merged
    }

    /// The fields as a dictionary, which is what `URLRequest` takes: repeated names joined as the subscript joins them.
    public var dictionary: [String: String] {
        guard !fields.isEmpty else { return [:] }
        var result = [String: String](minimumCapacity: fields.count)
        var firsts = FirstFields(of: self)
        for (index, field) in fields.enumerated() {
            let first = firsts.position(ofFieldAt: index)
            if first == index {
                result[field.name.rawValue] = field.value
            } else {
                result[fields[first].name.rawValue]?.append(field.separator + field.value)
            }
        }
        return result
    }

    private func joinedValue(for name: String) -> String? {
        var joined: String?
        for field in fields where field.name.rawValue.equalsIgnoringASCIICase(name) {
            if joined == nil { joined = field.value } else { joined?.append(field.separator + field.value) }
        }
        return joined
    }

    /// Whether a table of the names costs less than comparing each field with every other one.
    private var isLong: Bool { fields.count > 8 }

    /// Finds the first field of each name.
    private struct FirstFields {
        private let headers: HTTPHeaders
        private var positions: [HTTPHeaderName: Int] = [:]

        init(of headers: HTTPHeaders) {
            self.headers = headers
            if headers.isLong { positions.reserveCapacity(headers.count) }
        }

        /// The position of the first field with the same name as the field at the index. Indices must be passed in
        /// order.
        mutating func position(ofFieldAt index: Int) -> Int {
            let name = headers.fields[index].name
            guard headers.isLong else { return headers.fields[..<index].firstIndex { $0.name == name } ?? index }
            let keep = { (position: inout Int) in position }
            return keep(&positions[name, default: index])
        }
    }

    private mutating func set(_ name: String, to value: String?) {
        let name = HTTPHeaderName(rawValue: name)
        guard let value else { return fields.removeAll { $0.name == name } }
        guard let first = fields.firstIndex(where: { $0.name == name }) else { return add(name, value: value) }
        fields[first] = Field(name: name, value: value)
        let rest = fields.index(after: first)
        let others = fields[rest...].filter { $0.name != name }
        fields.replaceSubrange(rest..., with: others)
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both hold the same values for each name, in the same order for one name (RFC 9110 §5.3).
    public static func == (left: Self, right: Self) -> Bool {
        guard left.fields.count == right.fields.count else { return false }
        guard !left.isLong else {
            return Dictionary(grouping: left.fields, by: \.name) == Dictionary(grouping: right.fields, by: \.name)
        }
        return left.fields.allSatisfy { left.values(for: $0.name) == right.values(for: $0.name) }
    }

    /// Feeds the fields so that their order does not count, as it does not for `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields.reduce(0) { $0 ^ $1.hashValue })
        hasher.combine(fields.count)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// The fields of the literal, in its order; repeated names stay.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: HTTPHeaderName(rawValue: $0.0), value: $0.1) }
    }
}

extension HTTPHeaders: Sequence {
    /// Goes through the fields in order.
    public func makeIterator() -> Array<Field>.Iterator {
        fields.makeIterator()
    }

    /// The number of fields, repeated names counted each.
    package var count: Int { fields.count }

    /// Whether there is no field.
    package var isEmpty: Bool { fields.isEmpty }
}

extension HTTPHeaders: ReflectsDescription {
    /// A field per line, as `Name: value`, with the values of secret fields redacted.
    public var description: String {
        fields.map { "\($0.name): \(HeaderRedaction.standard.value($0.value, for: $0.name))" }
            .joined(separator: "\n")
    }
}

extension HTTPHeaders.Field: ReflectsDescription {
    /// `Name: value`, with the value of a secret field redacted (``HeaderRedaction/standard``).
    public var description: String { "\(name): \(HeaderRedaction.standard.value(value, for: name))" }
}
