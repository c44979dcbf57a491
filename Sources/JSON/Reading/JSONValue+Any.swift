// SPDX-License-Identifier: MIT
import TargetKit

extension JSONValue {
    /// Creates a value from an untyped one, for example the result of `JSONSerialization`.
    ///
    /// ```swift
    /// let json = try JSONValue(any: JSONSerialization.jsonObject(with: data))
    /// ```
    ///
    /// Strings, numbers, Booleans, `NSNull`, optionals, arrays, and dictionaries with `String` keys are converted. A
    /// URL and a UUID become strings, and a `JSONValue` is unchanged.
    ///
    /// - Throws: An error with the path, for example `items[2].date`, for any other type, for NaN and infinity, and for
    ///   a nesting deeper than 512 levels.
    public init(any value: Any) throws {
        self = try Self.converted(value, depth: 0)
    }

    private static func converted(_ value: Any, depth: Int) throws(UntypedValueError) -> JSONValue {
        if let json = value as? JSONValue { return json }
        guard depth <= JSONReader.maximumDepth else { throw UntypedValueError(.tooDeep) }
        if let members = value as? [String: Any] {
            var object: JSONObject = [:]
            for (key, member) in members { object[key] = try converted(member, at: key, depth: depth + 1) }
            return .object(object)
        }
        if let elements = value as? [Any] {
            var converted: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                converted.append(try Self.converted(element, at: "[\(index)]", depth: depth + 1))
            }
            return .array(converted)
        }
        let scalar: JSONValue?
        do { scalar = try JSONValue(scalar: value) } catch { throw UntypedValueError(.notFinite) }
        guard let scalar else { throw UntypedValueError(.unsupported("\(type(of: value))")) }
        return scalar
    }

    private static func converted(
        _ value: Any,
        at key: @autoclosure () -> String,
        depth: Int
    ) throws(UntypedValueError) -> JSONValue {
        do throws(UntypedValueError) {
            return try converted(value, depth: depth)
        } catch {
            throw error.under(key())
        }
    }
}

/// A value that JSON can't represent. The text has its type and never the value.
private struct UntypedValueError: Error, ReflectsDescription {
    enum Reason: Sendable {
        case unsupported(String)
        case notFinite
        case tooDeep
    }

    private let reason: Reason
    /// The path as one writes it in Swift, for example `items[2].price`.
    private var path = ""

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// This error, of a value within a container.
    func under(_ key: String) -> Self {
        var error = self
        error.path = key + (path.isEmpty || path.hasPrefix("[") ? "" : ".") + path
        return error
    }

    var description: String {
        let place = path.isEmpty ? "the value" : "the value at \(path)"
        return switch reason {
        case .unsupported(let type):
            "\(place) can't be JSON: it is a \(type); pass a String, a number, a Bool, NSNull, an array, or a "
                + "dictionary with String keys"
        case .notFinite: "\(place) can't be JSON: it is NaN or infinite"
        case .tooDeep: "the value can't be JSON: it is nested deeper than \(JSONReader.maximumDepth) levels"
        }
    }
}
