// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// The value of a key; ``null`` where there is none, or no object.
    ///
    /// Setting makes an object of ``null``, and leaves alone what is neither. To remove a member, set it on ``object``.
    public subscript(key: String) -> JSONValue {
        get {
            guard case .object(let object) = self else { return .null }
            return object[key] ?? .null
        }
        set {
            switch self {
            case .object(var object):
                self = .null  // So that the object has one owner, and is changed where it is.
                object[key] = newValue
                self = .object(object)
            case .null: self = .object([key: newValue])
            default: break
            }
        }
    }

    /// The element at an index; ``null`` where there is none, or no array.
    ///
    /// Setting the index after the last appends; setting one further away, or in what is no array, changes nothing.
    public subscript(index: Int) -> JSONValue {
        get {
            guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
            return elements[index]
        }
        set {
            guard case .array(var elements) = self, index >= 0, index <= elements.count else { return }
            self = .null  // So that the array has one owner, and is changed where it is.
            if index == elements.count { elements.append(newValue) } else { elements[index] = newValue }
            self = .array(elements)
        }
    }

    /// The value of a key, `json.user.name` for `json["user"]["name"]`.
    public subscript(dynamicMember key: String) -> JSONValue {
        get { self[key] }
        set { self[key] = newValue }
    }

    /// The value at a key path, for example `json[path: "data.items.0.name"]`; ``null`` if there is none.
    ///
    /// Keys and array indices are separated by dots. A dot in a key is escaped as `\.`, a backslash as `\\`.
    public subscript(path path: String) -> JSONValue {
        JSONPath(path).keys.reduce(self) { value, key in
            guard case .array = value else { return value[key] }
            return JSONPath.index(key).map { value[$0] } ?? .null
        }
    }

    /// Whether this is ``null``.
    package var isNull: Bool { self == .null }

    /// The text of a string; `nil` for any other value.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The flag; `nil` for any other value, numbers among them.
    public var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The number; `nil` for any other value.
    public var number: JSONNumber? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The integer; `nil` for any other value, and for a number with a fraction or out of range.
    public var int: Int? { number?.int }

    /// The integer of 64 bits; `nil` for any other value.
    package var int64: Int64? { number?.int64 }

    /// The integer of 64 bits without a sign; `nil` for any other value.
    package var uint64: UInt64? { number?.uint64 }

    /// The nearest `Double` to the number; `nil` for any other value, and for a number beyond all of them.
    public var double: Double? { number?.double }

    /// The number as a decimal of up to 38 digits; `nil` for any other value.
    public var decimal: Decimal? { number?.decimal }

    /// The elements; `nil` for any other value.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members in order; `nil` for any other value. Setting `nil` makes this ``null``.
    public var object: JSONObject? {
        get {
            guard case .object(let object) = self else { return nil }
            return object
        }
        set { self = newValue.map { .object($0) } ?? .null }
    }

    /// The members without order; `nil` for any other value.
    public var dictionary: [String: JSONValue]? { object?.dictionary }
}
