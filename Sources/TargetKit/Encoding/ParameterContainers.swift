// SPDX-License-Identifier: MIT

/// An array of any element type.
protocol ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows
}

/// Names and values of any types.
protocol ParameterPairs {
    /// Calls `body` with the pairs in their own order; a dictionary's pairs are sorted by name if `sorted`.
    func forEachParameter(sorted: Bool, body: (String, Any) throws -> Void) throws
}

/// An optional of any type.
protocol ParameterOptional {
    var wrappedParameter: Any? { get }
}

extension Array: ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows {
        // An `any Sendable` element would be boxed twice, and its type wouldn't be recognized.
        if Element.self == (any Sendable).self, let list = (self as Any) as? [any Sendable] {
            for element in list { try body(element) }
        } else if Element.self == Any.self, let list = (self as Any) as? [Any] {
            for element in list { try body(element) }
        } else {
            for element in self { try body(element) }
        }
    }
}

extension ArraySlice: ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows { try Array(self).forEachParameter(body) }
}

extension ContiguousArray: ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows { try Array(self).forEachParameter(body) }
}

extension Dictionary: ParameterPairs {
    func forEachParameter(sorted: Bool, body: (String, Any) throws -> Void) throws {
        // A cast from `Any` only compares types; a cast from `self` would copy the dictionary.
        if Self.self == [String: any Sendable].self, let known = (self as Any) as? [String: any Sendable] {
            try KeyOrder.forEach(in: known, sorted: sorted, body)
        } else if Self.self == [String: Any].self, let known = (self as Any) as? [String: Any] {
            try KeyOrder.forEach(in: known, sorted: sorted, body)
        } else if Self.self == [String: String].self, let known = (self as Any) as? [String: String] {
            try KeyOrder.forEach(in: known, sorted: sorted) { try body($0, $1) }
        } else if Key.self == String.self, let known = (self as Any) as? [String: Value] {
            try KeyOrder.forEach(in: known, sorted: sorted) { try body($0, $1) }
        } else {
            var pairs: [(key: String, value: Any)] = []
            for (key, value) in self { pairs.append((try ParameterKey.text(key), value)) }
            if sorted { KeyOrder.sort(&pairs, by: \.key) }
            for (key, value) in pairs { try body(key, value) }
        }
    }
}

extension KeyValuePairs: ParameterPairs {
    func forEachParameter(sorted: Bool, body: (String, Any) throws -> Void) throws {
        if let known = (self as Any) as? KeyValuePairs<String, any Sendable> {
            for (key, value) in known { try body(key, value) }
        } else if let known = (self as Any) as? KeyValuePairs<String, Any> {
            for (key, value) in known { try body(key, value) }
        } else {
            for (key, value) in self { try body(try ParameterKey.text(key), value) }
        }
    }
}

extension Optional: ParameterOptional {
    var wrappedParameter: Any? {
        guard let self else { return nil }
        // As in an array, a nested existential must be unwrapped.
        if Wrapped.self == (any Sendable).self { return (([self] as Any) as? [any Sendable])?.first }
        if Wrapped.self == Any.self { return (([self] as Any) as? [Any])?.first }
        return self
    }
}

/// The text of a dictionary's key that isn't a `String`.
private enum ParameterKey {
    static func text(_ key: Any) throws -> String {
        switch key {
        case let key as String: return key
        case let key as AnyHashable where !(key.base is AnyHashable): return try text(key.base)
        case let key as any RawRepresentable: return try text(key.rawValue)
        case let key as any LosslessStringConvertible: return key.description
        default: throw ParameterEncodingError(.unsupportedKey("\(type(of: key))"))
        }
    }
}

extension JSONObject: ParameterPairs {
    func forEachParameter(sorted: Bool, body: (String, Any) throws -> Void) throws {
        guard sorted else {
            for member in members { try body(member.key, member.value) }
            return
        }
        var members = members
        KeyOrder.sort(&members, by: \.key)
        for member in members { try body(member.key, member.value) }
    }
}
