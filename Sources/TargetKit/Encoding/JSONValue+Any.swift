// SPDX-License-Identifier: MIT

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
        guard depth <= JSONParser.maximumDepth else { throw UntypedValueError(.tooDeep) }
        if let members = value as? [String: Any] {
            var converted: [String: JSONValue] = [:]
            for (key, member) in members {
                converted[key] = try Self.converted(member, at: JSONPath.PathKey(key), depth: depth + 1)
            }
            return JSONValue(converted)
        }
        if let elements = value as? [Any] {
            var converted: [JSONValue] = []
            for (index, element) in elements.enumerated() {
                converted.append(try Self.converted(element, at: IndexKey(index), depth: depth + 1))
            }
            return .array(converted)
        }
        guard let scalar = try? ParameterValue.of(value), let json = try scalar.json() else {
            throw UntypedValueError(.unsupported("\(type(of: value))"))
        }
        return json
    }

    private static func converted(
        _ value: Any,
        at key: @autoclosure () -> any CodingKey,
        depth: Int
    ) throws(UntypedValueError) -> JSONValue {
        do throws(UntypedValueError) {
            return try converted(value, depth: depth)
        } catch {
            throw error.under(key())
        }
    }
}

extension ParameterValue {
    /// The JSON of a scalar; `nil` for a value that JSON doesn't have.
    fileprivate func json() throws(UntypedValueError) -> JSONValue? {
        switch self {
        case .text(let text): return JSONValue(text)
        case .bool(let flag): return .bool(flag)
        case .missing, .null: return .null
        case .signed(let number): return .number(JSONNumber(number))
        case .unsigned(let number): return .number(JSONNumber(number))
        case .double, .float, .decimal, .digits:
            guard let number else { throw UntypedValueError(.notFinite) }
            return .number(number)
        case .date, .data, .list, .pairs: return nil
        }
    }

    private var number: JSONNumber? {
        switch self {
        case .double(let number): JSONNumber(number)
        case .float(let number): JSONNumber(text: number.description)
        case .decimal(let number): JSONNumber(number)
        case .digits(let digits): JSONNumber(text: digits)
        default: nil
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
    private var path: [any CodingKey] = []

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// This error, of a value within a container.
    func under(_ key: any CodingKey) -> Self {
        var error = self
        error.path.insert(key, at: 0)
        return error
    }

    var description: String {
        let place = path.isEmpty ? "the value" : "the value at \(CodingKeyPath(path))"
        return switch reason {
        case .unsupported(let type):
            "\(place) can't be JSON: it is a \(type); pass a String, a number, a Bool, NSNull, an array, or a "
                + "dictionary with String keys"
        case .notFinite: "\(place) can't be JSON: it is NaN or infinite"
        case .tooDeep: "the value can't be JSON: it is nested deeper than \(JSONParser.maximumDepth) levels"
        }
    }
}
