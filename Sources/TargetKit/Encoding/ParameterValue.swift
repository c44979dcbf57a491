// SPDX-License-Identifier: MIT

/// A value that parameters can contain. A number, an object or a raw value of another type is converted by
/// ``ParameterReader``.
protocol ParameterValue {
    /// The value as JSON, which every format writes; `nil` if it is omitted.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN, infinity, and contents that no format supports.
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue?
}

/// Converts untyped parameters to JSON values, which ``FormWriter`` and ``JSONWriter`` write.
struct ParameterReader {
    var dates = URLEncodedFormEncoder.DateEncoding.secondsSince1970
    /// Whether the keys of dictionaries are sorted by their UTF-8 bytes.
    var sortsKeys = true
    /// Whether `nil` and empty containers are omitted, as in a form. Otherwise, `nil` is null.
    var omitsEmpty = false

    /// Converts top-level parameters.
    ///
    /// - Throws: ``ParameterEncodingError`` with the key path, or the error of a closure.
    func object(_ parameters: [String: any Sendable]) throws -> JSONObject {
        sortsKeys ? try members(parameters.sortedByKey, depth: 0) : try members(parameters, depth: 0)
    }

    /// Converts top-level parameters in their own order.
    func object(ordered parameters: [(String, any Sendable)]) throws -> JSONObject {
        try members(parameters.lazy.map { (key: $0, value: $1) }, depth: 0)
    }

    /// Converts any value.
    ///
    /// Common types are compared by metatype, a pointer comparison. A cast takes tens of nanoseconds.
    func value<T>(_ value: T, depth: Int) throws -> JSONValue? {
        if let text = same(value, as: String.self) { return .string(text) }
        if let number = same(value, as: Int.self) { return .number(JSONNumber(Int64(number))) }
        if let flag = same(value, as: Bool.self) { return .bool(flag) }
        // An element of `[any Sendable]`, whose own type is needed.
        if let element = same(value, as: (any Sendable).self) { return try self.value(element, depth: depth) }
        if let element = same(value, as: Any.self) { return try self.value(element, depth: depth) }
        if let known = value as? any ParameterValue { return try known.json(self, depth: depth) }
        if let number = value as? any BinaryInteger { return .number(JSONNumber(number)) }
        if let number = value as? any BinaryFloatingPoint { return try Double(number).json(self, depth: depth) }
        switch value {
        // Also Foundation's classes, which are bridged to these types.
        case let text as String: return .string(text)
        case is Substring, is Character, is Unicode.Scalar: return .string("\(value)")
        case let date as Date: return try dates.json(of: date)
        case let data as Data: return .string(data.base64EncodedString())
        case let url as URL: return .string(url.absoluteString)
        case let uuid as UUID: return .string(uuid.uuidString)
        case let wrapper as any RawRepresentable: return try self.value(wrapper.rawValue, depth: depth)
        default: throw ParameterEncodingError(.unsupportedType("\(type(of: value))"))
        }
    }

    /// The value, if it has exactly this type.
    @inline(__always)
    private func same<T, Known>(_ value: T, as type: Known.Type) -> Known? {
        guard T.self == Known.self else { return nil }
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Known.self).pointee }
    }

    fileprivate func array(_ elements: some Sequence, depth: Int) throws -> JSONValue? {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        var values: [JSONValue] = []
        for element in elements {
            // An omitted element leaves no gap in the indices.
            if let value = try self.value(element, named: "\(values.count)", depth: depth) { values.append(value) }
        }
        return values.isEmpty && omitsEmpty ? nil : .array(values)
    }

    fileprivate func object<Value>(
        _ pairs: some Sequence<(key: String, value: Value)>,
        depth: Int
    ) throws -> JSONValue? {
        guard depth < ParameterEncodingError.maximumDepth else { throw ParameterEncodingError(.tooDeep) }
        let object = try members(pairs, depth: depth)
        return object.isEmpty && omitsEmpty ? nil : .object(object)
    }

    private func members<Value>(
        _ pairs: some Sequence<(key: String, value: Value)>,
        depth: Int
    ) throws -> JSONObject {
        var members: [(key: String, value: JSONValue)] = []
        members.reserveCapacity(pairs.underestimatedCount)
        for (key, value) in pairs {
            if let value = try self.value(value, named: key, depth: depth) { members.append((key, value)) }
        }
        return JSONObject(written: members)
    }

    private func value<T>(_ value: T, named name: @autoclosure () -> String, depth: Int) throws -> JSONValue? {
        do {
            return try self.value(value, depth: depth + 1)
        } catch let error as ParameterEncodingError {
            throw error.inside(name(), isRoot: depth == 0)
        }
    }
}

extension Bool: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) -> JSONValue? { .bool(self) }
}

extension Double: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        guard isFinite else { throw ParameterEncodingError(.notFinite) }
        return .number(JSONNumber(.double(self)))
    }
}

extension Float: ParameterValue {
    /// The `Double` with the same shortest decimal.
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        try (Double(description) ?? Double(self)).json(reader, depth: depth)
    }
}

extension Decimal: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        guard isFinite else { throw ParameterEncodingError(.notFinite) }
        return .number(JSONNumber(.text(description)))
    }
}

extension NSNull: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) -> JSONValue? { .null }
}

extension NSNumber: ParameterValue {
    /// The number with its original type.
    ///
    /// `NSNumber(value: 1) is Bool` is true, and on Apple platforms an `Int8` has the `objCType` of a `Bool`, so
    /// neither can identify a `Bool`. The two Boolean `NSNumber` objects are singletons on every platform.
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        if self === NSNumber(value: true) { return .bool(true) }
        if self === NSNumber(value: false) { return .bool(false) }
        if let decimal = self as? NSDecimalNumber { return try decimal.decimalValue.json(reader, depth: depth) }
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "d"): return try doubleValue.json(reader, depth: depth)
        case UInt8(ascii: "f"): return try floatValue.json(reader, depth: depth)
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): return .number(JSONNumber(uint64Value))
        default: return .number(JSONNumber(int64Value))
        }
    }
}

extension Optional: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        guard let self else { return reader.omitsEmpty ? nil : .null }
        return try reader.value(self, depth: depth)
    }
}

extension ParameterValue where Self: Sequence {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? { try reader.array(self, depth: depth) }
}

extension Array: ParameterValue {}
extension ArraySlice: ParameterValue {}
extension ContiguousArray: ParameterValue {}

extension Dictionary: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        let pairs = try map { (key: try ParameterReader.text(ofKey: $0), value: $1) }
        return try reader.object(reader.sortsKeys ? pairs.sortedByKey() : pairs, depth: depth)
    }
}

extension KeyValuePairs: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        try reader.object(try map { (key: try ParameterReader.text(ofKey: $0), value: $1) }, depth: depth)
    }
}

extension JSONObject: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        try reader.object(reader.sortsKeys ? members.sortedByKey() : members, depth: depth)
    }
}

extension JSONNumber: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) -> JSONValue? { .number(self) }
}

extension JSONValue: ParameterValue {
    func json(_ reader: ParameterReader, depth: Int) throws -> JSONValue? {
        switch self {
        case .array(let elements): try reader.array(elements, depth: depth)
        case .object(let object): try object.json(reader, depth: depth)
        case .null, .bool, .number, .string: self
        }
    }
}

extension ParameterReader {
    /// The text of a dictionary's key.
    fileprivate static func text(ofKey key: Any) throws -> String {
        switch key {
        case let key as String: return key
        case let key as AnyHashable where !(key.base is AnyHashable): return try text(ofKey: key.base)
        case let key as any RawRepresentable: return try text(ofKey: key.rawValue)
        case let key as any LosslessStringConvertible: return key.description
        default: throw ParameterEncodingError(.unsupportedKey("\(type(of: key))"))
        }
    }
}

extension Array {
    /// The pairs sorted by the UTF-8 bytes of their keys.
    consuming func sortedByKey<Value>() -> Self where Element == (key: String, value: Value) {
        ordered { $0.key.hasBytes(before: $1.key) }
    }
}

extension Dictionary where Key == String {
    /// The pairs sorted by the UTF-8 bytes of their keys. Sorting the values too takes longer.
    fileprivate var sortedByKey: some Sequence<(key: String, value: Value)> {
        indices.map { (key: keys[$0], value: $0) }.sortedByKey().lazy.map { (key: $0, value: values[$1]) }
    }
}

extension JSONValue {
    /// Creates the value of a string, a number, a Boolean value or `NSNull`; `nil` for a value of another type.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN and infinity.
    package init?(scalar value: Any) throws {
        guard !(value is Date), !(value is Data) else { return nil }
        do {
            // No container is allowed at this depth.
            self = try ParameterReader().value(value, depth: ParameterEncodingError.maximumDepth) ?? .null
            if case .number(let number) = self { self = .number(JSONNumber(canonical: number.description)) }
        } catch let error as ParameterEncodingError where error.reason != .notFinite {
            return nil
        }
    }
}
