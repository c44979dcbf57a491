// SPDX-License-Identifier: MIT

/// An array of any element type, seen without knowing that type.
protocol ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows
}

/// Names with values, of any types, seen without knowing them.
protocol ParameterPairs {
    /// The pairs in their own order, for a dictionary sorted by name when `sorted`.
    func parameterPairs(sorted: Bool) throws -> [ParameterPair]
}

/// An optional of any type, seen without knowing it.
protocol ParameterOptional {
    var wrappedParameter: Any? { get }
}

/// A name and its value.
typealias ParameterPair = (key: String, value: Any)

extension Array: ParameterList {
    func forEachParameter(_ body: (Any) throws -> Void) rethrows {
        // An element that is itself an `any Sendable` would arrive boxed twice, and be taken for no known type.
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
    func parameterPairs(sorted: Bool) throws -> [ParameterPair] {
        var pairs: [ParameterPair] = []
        pairs.reserveCapacity(count)
        if Value.self == (any Sendable).self, let known = self as? [String: any Sendable] {
            for (key, value) in known { pairs.append((key, value)) }
        } else if Value.self == Any.self, let known = self as? [String: Any] {
            for (key, value) in known { pairs.append((key, value)) }
        } else if let known = self as? [String: Value] {
            for (key, value) in known { pairs.append((key, value)) }
        } else {
            for (key, value) in self { pairs.append((try ParameterKey.text(key), value)) }
        }
        if sorted, pairs.count > 1 { pairs.sort { $0.key < $1.key } }
        return pairs
    }
}

extension KeyValuePairs: ParameterPairs {
    func parameterPairs(sorted: Bool) throws -> [ParameterPair] {
        var pairs: [ParameterPair] = []
        pairs.reserveCapacity(count)
        if let known = self as? KeyValuePairs<String, any Sendable> {
            for (key, value) in known { pairs.append((key, value)) }
        } else {
            for (key, value) in self { pairs.append((try ParameterKey.text(key), value)) }
        }
        return pairs
    }
}

extension Optional: ParameterOptional {
    var wrappedParameter: Any? {
        guard let self else { return nil }
        // As in an array, an existential within an existential has to be unpacked.
        if Wrapped.self == (any Sendable).self { return (([self] as Any) as? [any Sendable])?.first }
        if Wrapped.self == Any.self { return (([self] as Any) as? [Any])?.first }
        return self
    }
}

/// The text of a dictionary's key that is no `String`.
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
