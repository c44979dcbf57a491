// SPDX-License-Identifier: MIT
import Foundation

extension JSONValue {
    /// The value of a key; ``null`` if there is none or this is not an object.
    ///
    /// Setting a key of ``null`` makes an object of it; setting a key of any other value changes nothing.
    public subscript(key: String) -> JSONValue {
        get {
            guard case .object(let object) = content else { return .null }
            return object[key] ?? .null
        }
        set {
            switch content {
            case .object(var object):
                content = .null  // So that the object has one owner and is changed in place.
                object[key] = newValue
                content = .object(object)
            case .null: content = .object([key: newValue])
            default: break
            }
        }
    }

    /// The element at an index; ``null`` if there is none or this is not an array.
    ///
    /// Setting the index after the last appends an element. Setting a greater index, or an index of a value that is not an
    /// array, changes nothing.
    public subscript(index: Int) -> JSONValue {
        get {
            guard case .array(let elements) = content, elements.indices.contains(index) else { return .null }
            return elements[index]
        }
        set {
            guard case .array(var elements) = content, index >= 0, index <= elements.count else { return }
            content = .null  // So that the array has one owner and is changed in place.
            if index == elements.count { elements.append(newValue) } else { elements[index] = newValue }
            content = .array(elements)
        }
    }

    /// The value of a key, `json.user.name` for `json["user"]["name"]`.
    public subscript(dynamicMember key: String) -> JSONValue {
        get { self[key] }
        set { self[key] = newValue }
    }

    /// The value at a key path, `json[path: "data.items.0.name"]`; ``null`` if there is none.
    ///
    /// A dot that belongs to a key is written `\.`, a backslash `\\`.
    public subscript(path path: String) -> JSONValue {
        JSONPath(path).keys.reduce(self) { value, key in
            guard case .array = value.content else { return value[key] }
            return JSONPath.index(key).map { value[$0] } ?? .null
        }
    }

    /// Whether this is ``null``.
    package var isNull: Bool { self == .null }

    /// The string; `nil` for any other value.
    public var string: String? {
        guard case .string(let text) = content else { return nil }
        return text
    }

    /// The Boolean; `nil` for any other value, including numbers.
    public var bool: Bool? {
        guard case .bool(let flag) = content else { return nil }
        return flag
    }

    /// The number; `nil` for any other value.
    package var number: JSONNumber? {
        guard case .number(let number) = content else { return nil }
        return number
    }

    /// The integer; `nil` for any other value, and for a number with a fraction or out of range.
    public var int: Int? { number?.int }

    /// The integer of 64 bits; `nil` for any other value.
    package var int64: Int64? { number?.int64 }

    /// The integer of 64 bits without a sign; `nil` for any other value.
    package var uint64: UInt64? { number?.uint64 }

    /// The nearest `Double` to the number; `nil` for any other value, and for a number out of range.
    public var double: Double? { number?.double }

    /// The number as a decimal of up to 38 digits; `nil` for any other value.
    public var decimal: Decimal? { number?.decimal }

    /// The elements; `nil` for any other value.
    public var array: [JSONValue]? {
        guard case .array(let elements) = content else { return nil }
        return elements
    }

    /// The members in order; `nil` for any other value.
    package var object: JSONObject? {
        guard case .object(let object) = content else { return nil }
        return object
    }

    /// The members as a dictionary, which has no order; `nil` for any other value.
    public var dictionary: [String: JSONValue]? { object?.dictionary }
}
