// SPDX-License-Identifier: MIT

/// Header fields in the order in which they were added. Names are case-insensitive (RFC 9110 §5).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json"]
/// headers["X-Trace"] = "7"
/// headers.add("Accept", value: "text/plain")   // a second field of that name
/// headers["accept"]                            // "application/json, text/plain"
/// ```
///
/// Two lists are equal if they contain the same values for each name; the order of fields with different names is
/// ignored (RFC 9110 §5.3).
public struct HTTPHeaders: Sendable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: HTTPHeaderName
        /// The field's value, without surrounding white space.
        public var value: String

        /// Creates a field.
        public init(name: HTTPHeaderName, value: String) {
            self.name = name
            self.value = value
        }

        /// The separator between joined values of the field.
        fileprivate var separator: String { name == .cookie ? "; " : ", " }
    }

    /// The fields, in order, repeated names included.
    public var fields: [Field]

    /// Creates a list of fields in order, including repeated names; default: none.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Creates a list from a dictionary, sorted by name for a stable order.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.map { Field(name: HTTPHeaderName(rawValue: $0.key), value: $0.value) }
            .ordered { $0.name.rawValue.hasBytes(before: $1.name.rawValue) }
    }

    /// The value of the field with a name; `nil` if there is none.
    ///
    /// - Reading a repeated name returns the values joined by `", "` (RFC 9110 §5.3), or by `"; "` for `Cookie` (RFC
    ///   6265 §5.4). Use ``values(for:)`` for `Set-Cookie`, whose values contain commas.
    /// - Writing replaces all fields with the name by a single field at the position of the first; `nil` removes them.
    public subscript(_ name: HTTPHeaderName) -> String? {
        get {
            var joined: String?
            for field in fields where field.name == name {
                if joined == nil { joined = field.value } else { joined?.append(field.separator + field.value) }
            }
            return joined
        }
        set {
            guard let newValue else { return fields.removeAll { $0.name == name } }
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return add(name, value: newValue) }
            fields[first] = Field(name: name, value: newValue)
            let rest = fields.index(after: first)
            let others = fields[rest...].filter { $0.name != name }
            fields.replaceSubrange(rest..., with: others)
        }
    }

    /// Adds a field after the others, even if its name already exists.
    public mutating func add(_ name: HTTPHeaderName, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The values of all fields with a name, in order; empty if there are none.
    public func values(for name: HTTPHeaderName) -> [String] {
        fields.filter { $0.name == name }.map(\.value)
    }

    /// Whether there is a field with a name.
    package func contains(_ name: HTTPHeaderName) -> Bool {
        fields.contains { $0.name == name }
    }

    /// The size of the content in bytes; `nil` if it is missing or isn't a single number.
    package var contentLength: Int64? {
        guard !contains(.transferEncoding) else { return nil }
        let values = values(for: .contentLength)
        guard let value = values.first, values.allSatisfy({ $0 == value }) else { return nil }
        return FieldParser.number(value)
    }

    /// These fields, with the fields of `other` replacing those with equal names.
    public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
        if fields.isEmpty { return other }
        if other.isShort { return HTTPHeaders(fields.filter { !other.contains($0.name) } + other.fields) }
        let names = Set(other.fields.map(\.name.rawValue.asciiLowercased))
        return HTTPHeaders(fields.filter { !names.contains($0.name.rawValue.asciiLowercased) } + other.fields)
    }

    /// Whether a search costs less than a table.
    private var isShort: Bool { fields.count <= 8 }

    /// The fields as a dictionary for `URLRequest`. Repeated names are joined like in the subscript.
    public var dictionary: [String: String] {
        if fields.isEmpty { return [:] }
        var result = [String: String](minimumCapacity: fields.count)
        // The first spelling of each name.
        var names: [String: String] = [:]
        let isShort = isShort
        for (index, field) in fields.enumerated() {
            let key = isShort ? "" : field.name.rawValue.asciiLowercased
            let first = isShort ? fields[..<index].first { $0.name == field.name }?.name.rawValue : names[key]
            if let first {
                result[first]?.append(field.separator + field.value)
            } else {
                if !isShort { names[key] = field.name.rawValue }
                result[field.name.rawValue] = field.value
            }
        }
        return result
    }
}

extension HTTPHeaders: Hashable {
    /// Whether both have the same values for each name, in the same order (RFC 9110 §5.3).
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.orderedFields == right.orderedFields
    }

    /// The fields by their names.
    private var orderedFields: [Field] {
        fields.map { Field(name: HTTPHeaderName(rawValue: $0.name.rawValue.asciiLowercased), value: $0.value) }
            .ordered { $0.name.rawValue.hasBytes(before: $1.name.rawValue) }
    }

    /// Hashes the fields regardless of their order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fields.reduce(0) { $0 ^ $1.hashValue })
        hasher.combine(fields.count)
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates a list of the fields in a literal, in their order.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: HTTPHeaderName(rawValue: $0.0), value: $0.1) }
    }
}

extension HTTPHeaders: Sequence {
    /// Iterates over the fields in order.
    public func makeIterator() -> Array<Field>.Iterator {
        fields.makeIterator()
    }

    /// The number of fields, including repeated names.
    var count: Int { fields.count }

    /// Whether there are no fields.
    var isEmpty: Bool { fields.isEmpty }
}

extension HTTPHeaders: ReflectsDescription {
    /// One line for each field, as `Name: value`, with the values of secret fields, the queries of URLs, and pairs of a
    /// name and a value, such as parameters, redacted.
    public var description: String {
        fields.map(\.description).joined(separator: "\n")
    }
}

extension HTTPHeaders.Field: RedactedDescription {
    /// `Name: value`, with the value of a secret field, the queries of URLs, and pairs of a name and a value redacted.
    var redactedDescription: String {
        "\(name): \(HeaderRedaction.standard.description(of: value, for: name))".inOneLine
    }
}
