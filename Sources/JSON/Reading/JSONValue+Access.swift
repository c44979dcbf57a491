// SPDX-License-Identifier: MIT
import TargetKit

/// Reading JSON without a model.
///
/// ```swift
/// let json = try JSONValue(parsing: response.data)
/// let name = json.data.users[0].name.string
/// let total = json[path: "meta.total"].lenient.int ?? 0
/// ```
///
/// A missing value is `null`, at any depth, so a chain needs no `?`.
extension JSONValue {
    /// The value of a key; `null` if the key is missing or this isn't an object.
    ///
    /// Setting a key of `null` creates an object. Setting a key of any other value except an object has no effect. To
    /// remove a member, set it to `nil` on `object`.
    public subscript(key: String) -> JSONValue {
        get {
            guard case .object(let object) = self else { return .null }
            return object[key] ?? .null
        }
        set {
            switch self {
            case .object(var object):
                self = .null  // The object stays uniquely referenced and is changed in place.
                object[key] = newValue
                self = .object(object)
            case .null: self = .object([key: newValue])
            default: break
            }
        }
    }

    /// The element at an index; `null` if the index is out of range or this isn't an array.
    ///
    /// Setting the index after the last one appends. Setting another index out of range, or an index of any other
    /// value, has no effect.
    public subscript(index: Int) -> JSONValue {
        get {
            guard case .array(let elements) = self, elements.indices.contains(index) else { return .null }
            return elements[index]
        }
        set {
            guard case .array(var elements) = self, index >= 0, index <= elements.count else { return }
            self = .null  // The array stays uniquely referenced and is changed in place.
            if index == elements.count { elements.append(newValue) } else { elements[index] = newValue }
            self = .array(elements)
        }
    }

    /// The value of a key. For example, `json.user.name` is `json["user"]["name"]`.
    ///
    /// The names of this type's own properties (`string`, `number`, `description`, …) take precedence over keys. Use
    /// `json["string"]` for such a key.
    public subscript(dynamicMember key: String) -> JSONValue {
        get { self[key] }
        set { self[key] = newValue }
    }

    /// The value at a key path, for example `json[path: "data.items.0.name"]`; `null` if there is none.
    ///
    /// Keys and array indices are separated by dots. In a key, a dot is escaped as `\.` and a backslash as `\\`.
    public subscript(path path: String) -> JSONValue {
        JSONPath(path).keys.reduce(self) { value, key in
            guard case .array = value else { return value[key] }
            return JSONPath.index(key).map { value[$0] } ?? .null
        }
    }

    /// The string; `nil` for any other value.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The Boolean value; `nil` for any other value, including numbers.
    public var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The number; `nil` for any other value.
    public var number: JSONNumber? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The number as an `Int`; `nil` for any other value, or a number with a fraction or out of range.
    public var int: Int? { number?.int }

    /// The nearest `Double` to the number; `nil` for any other value, or a number out of range.
    public var double: Double? { number?.double }

    /// The number as a `Decimal` with up to 38 digits; `nil` for any other value.
    public var decimal: Decimal? { number?.decimal }

    /// The elements; `nil` for any other value.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members in order; `nil` for any other value. Setting `nil` changes the value to `null`.
    public var object: JSONObject? {
        get {
            guard case .object(let object) = self else { return nil }
            return object
        }
        set { self = newValue.map { .object($0) } ?? .null }
    }

    /// The members as an unordered dictionary; `nil` for any other value.
    public var dictionary: [String: JSONValue]? {
        object.map { Dictionary($0.map { ($0.key, $0.value) }) { _, last in last } }
    }
}
