// SPDX-License-Identifier: MIT
import Foundation

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
        self = try Self.converted(value, at: UntypedPath())
    }

    private static func converted(_ value: Any, at path: UntypedPath) throws -> JSONValue {
        if let json = value as? JSONValue { return json }
        guard path.depth <= JSONParser.maximumDepth else { throw UntypedValueError(.tooDeep, at: path) }
        if let members = value as? [String: Any] {
            return JSONValue(
                try Dictionary(uniqueKeysWithValues: members.map { ($0, try converted($1, at: path.member($0))) })
            )
        }
        if let elements = value as? [Any] {
            return .array(try elements.enumerated().map { try converted($1, at: path.element($0)) })
        }
        guard let scalar = try? ParameterValue.of(value), let json = try scalar.json(at: path) else {
            throw UntypedValueError(.unsupported("\(type(of: value))"), at: path)
        }
        return json
    }
}

extension ParameterValue {
    /// The JSON of a scalar; `nil` for a value that JSON doesn't have.
    fileprivate func json(at path: UntypedPath) throws -> JSONValue? {
        switch self {
        case .text(let text): return JSONValue(text)
        case .bool(let flag): return .bool(flag)
        case .missing, .null: return .null
        case .signed(let number): return .number(JSONNumber(number))
        case .unsigned(let number): return .number(JSONNumber(number))
        case .double, .float, .decimal, .digits:
            guard let number else { throw UntypedValueError(.notFinite, at: path) }
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

/// The place of a value in untyped containers.
private struct UntypedPath: CustomStringConvertible {
    private(set) var description = ""
    private(set) var depth = 0

    func member(_ key: String) -> Self { appending(description.isEmpty ? key : "." + key) }
    func element(_ index: Int) -> Self { appending("[\(index)]") }

    private func appending(_ part: String) -> Self {
        var path = self
        path.description += part
        path.depth += 1
        return path
    }
}

/// A value that JSON can't represent. The text has its type and never the value.
private struct UntypedValueError: Error, ReflectsDescription {
    enum Reason: Sendable {
        case unsupported(String)
        case notFinite
        case tooDeep
    }

    let description: String

    init(_ reason: Reason, at path: UntypedPath) {
        let place = path.description.isEmpty ? "the value" : "the value at \(path)"
        description =
            switch reason {
            case .unsupported(let type):
                "\(place) can't be JSON: it is a \(type); pass a String, a number, a Bool, NSNull, an array, or a "
                    + "dictionary with String keys"
            case .notFinite: "\(place) can't be JSON: it is NaN or infinite"
            case .tooDeep: "the value can't be JSON: it is nested deeper than \(JSONParser.maximumDepth) levels"
            }
    }
}
