// SPDX-License-Identifier: MIT

/// A parameter value, converted once to a type that every format supports.
enum ParameterValue {
    case text(String)
    case signed(Int64)
    case unsigned(UInt64)
    case double(Double)
    case float(Float)
    case decimal(Decimal)
    /// The JSON text of a number that the other cases can't represent.
    case digits(String)
    case bool(Bool)
    case date(Date)
    case data(Data)
    case list(any ParameterList)
    case pairs(any ParameterPairs)
    /// An `Optional` without a value.
    case missing
    /// `NSNull`, an explicit null.
    case null

    /// Converts a value.
    ///
    /// Common types come first and are compared by metatype, a pointer comparison. An `as?` cast takes tens of
    /// nanoseconds.
    ///
    /// - Throws: ``ParameterEncodingError`` if no format supports the type.
    static func of<T>(_ value: T) throws -> Self {
        if let text = same(value, as: String.self) {
            return .text(text)
        } else if let number = same(value, as: Int.self) {
            return .signed(Int64(number))
        } else if let number = same(value, as: Double.self) {
            return .double(number)
        } else if let flag = same(value, as: Bool.self) {
            return .bool(flag)
        } else if let json = same(value, as: JSONValue.self) {
            return .init(json)
        } else if let optional = value as? any ParameterOptional {
            guard let wrapped = optional.wrappedParameter else { return .missing }
            return try of(wrapped)
        } else if let pairs = value as? any ParameterPairs {
            return .pairs(pairs)
        } else if let list = value as? any ParameterList {
            return .list(list)
        } else if let known = number(value) ?? foundation(value) {
            return known
        } else if let wrapper = value as? any RawRepresentable {
            return try of(wrapper.rawValue)
        } else {
            throw ParameterEncodingError(.unsupportedType("\(type(of: value))"))
        }
    }

    /// The value, if it has exactly this type.
    @inline(__always)
    private static func same<T, Known>(_ value: T, as type: Known.Type) -> Known? {
        guard T.self == Known.self else { return nil }
        return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Known.self).pointee }
    }

    private static func number(_ value: Any) -> Self? {
        let type = type(of: value)
        if type == Float.self, let number = value as? Float { return .float(number) }
        if type == Decimal.self, let number = value as? Decimal { return .decimal(number) }
        // On Apple platforms every number can be cast to `NSNumber`, so the class is checked instead.
        if type is NSNumber.Type, let number = value as? NSNumber { return .init(number: number) }
        if let number = value as? any BinaryInteger {
            if let small = Int64(exactly: number) { return .signed(small) }
            if let small = UInt64(exactly: number) { return .unsigned(small) }
            return .digits(number.description)
        }
        if let number = value as? any BinaryFloatingPoint { return .double(Double(number)) }
        return nil
    }

    private static func foundation(_ value: Any) -> Self? {
        switch value {
        case let text as String: .text(text)
        case let text as Substring: .text(String(text))
        case let date as Date: .date(date)
        case let data as Data: .data(data)
        case let url as URL: .text(url.absoluteString)
        case let uuid as UUID: .text(uuid.uuidString)
        case let character as Character: .text(String(character))
        case let scalar as Unicode.Scalar: .text(String(Character(scalar)))
        case is NSNull: .null
        // A nested existential, for example from `[any Encodable]`, doesn't match above.
        case let flag as Bool: .bool(flag)
        case let number as Int: .signed(Int64(number))
        case let number as Double: .double(number)
        case let json as JSONValue: .init(json)
        case let number as JSONNumber: .init(number)
        default: nil
        }
    }

    /// Creates a value from an `NSNumber`, with its original type.
    ///
    /// `NSNumber(value: 1) is Bool` is true, and on Apple platforms an `Int8` has the `objCType` of a `Bool`, so
    /// neither can identify a `Bool`. The two Boolean `NSNumber` objects are singletons on every platform.
    private init(number: NSNumber) {
        if number === NSNumber(value: true) {
            self = .bool(true)
        } else if number === NSNumber(value: false) {
            self = .bool(false)
        } else if let decimal = number as? NSDecimalNumber {
            self = .decimal(decimal.decimalValue)
        } else {
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "d"): self = .double(number.doubleValue)
            case UInt8(ascii: "f"): self = .float(number.floatValue)
            case UInt8(ascii: "Q"), UInt8(ascii: "L"): self = .unsigned(number.uint64Value)
            default: self = .signed(number.int64Value)
            }
        }
    }
}

extension ParameterValue {
    /// Creates a value from JSON.
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .init(number)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(elements)
        case .object(let object): self = .pairs(object)
        }
    }

    /// Creates a value from a JSON number, with all digits.
    init(_ number: JSONNumber) {
        switch number.form {
        case .signed(let value): self = .signed(value)
        case .unsigned(let value): self = .unsigned(value)
        case .double(let value): self = .double(value)
        case .text(let digits): self = .digits(digits)
        }
    }
}

extension JSONValue {
    /// Creates the value of a string, a number, a Boolean value or `NSNull`; `nil` for a value of another type.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN and infinity.
    package init?(scalar value: Any) throws {
        switch try? ParameterValue.of(value) {
        case .text(let text): self = .string(text)
        case .bool(let flag): self = .bool(flag)
        case .missing, .null: self = .null
        case .signed(let number): self = .number(JSONNumber(number))
        case .unsigned(let number): self = .number(JSONNumber(number))
        case .double(let number): self = .number(JSONNumber(canonical: "\(try NumberText.text(number))"))
        case .float(let number): self = .number(JSONNumber(canonical: "\(try NumberText.text(number))"))
        case .decimal(let number): self = .number(JSONNumber(canonical: try NumberText.text(number)))
        case .digits(let digits): self = .number(JSONNumber(canonical: digits))
        case .date, .data, .list, .pairs, nil: return nil
        }
    }
}

extension NumberText {
    /// The shortest text that reads back to the same number.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN and infinity, which neither JSON (RFC 8259 §6) nor forms can
    ///   represent.
    static func text(_ value: some BinaryFloatingPoint & LosslessStringConvertible) throws -> Substring {
        guard value.isFinite else { throw ParameterEncodingError(.notFinite) }
        let text = value.description
        return text.hasSuffix(".0") ? text.dropLast(2) : text[...]
    }

    /// All of a decimal's digits.
    ///
    /// - Throws: ``ParameterEncodingError`` for NaN.
    static func text(_ value: Decimal) throws -> String {
        guard value.isFinite else { throw ParameterEncodingError(.notFinite) }
        return value.description
    }
}
