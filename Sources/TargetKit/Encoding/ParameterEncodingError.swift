// SPDX-License-Identifier: MIT

/// Why parameters could not be turned into bytes, and which of them was at fault.
///
/// It holds types and names, never a value: a parameter may be a password.
public struct ParameterEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was wrong.
    public enum Reason: Sendable, Hashable {
        /// The format has no form for a value of that type.
        case unsupportedType(String)
        /// A dictionary's key of that type has no text.
        case unsupportedKey(String)
        /// A number or a date that is NaN or infinite.
        case notFinite
        /// A date outside the years 1 to 9999, which ISO 8601 cannot write in four digits.
        case dateOutOfRange
        /// More containers in each other than ``ParameterEncodingError/maximumDepth``.
        case tooDeep
        /// A form is made of names and values, so its root must have names; the text says what came instead.
        case rootWithoutKeys(String)
        /// The request has no URL to put a query into, or one that holds characters no URL may hold.
        case invalidURL
    }

    /// How deep dictionaries and arrays may be nested: 512, as deep as Foundation's JSON reader goes.
    public static let maximumDepth = 512

    /// What was wrong.
    public let reason: Reason

    /// Where the value stands, written as a form writes it: `user[tags][0]`. Empty when it is the whole.
    public let keyPath: String

    /// Makes an error about the value at a key path.
    public init(_ reason: Reason, at keyPath: String = "") {
        self.reason = reason
        self.keyPath = keyPath
    }

    /// One line that says what was wrong and where, without the value.
    public var description: String {
        let place = keyPath.isEmpty ? "the parameters" : "the parameter \(keyPath)"
        switch reason {
        case .unsupportedType(let type): return "\(place) cannot be encoded: there is no form for a \(type)"
        case .unsupportedKey(let type): return "\(place) cannot be encoded: a \(type) cannot be a key"
        case .notFinite: return "\(place) cannot be encoded: it is NaN or infinite"
        case .dateOutOfRange: return "\(place) cannot be encoded: the date is outside the years 1 to 9999"
        case .tooDeep: return "\(place) cannot be encoded: nested deeper than \(Self.maximumDepth) levels"
        case .rootWithoutKeys(let root): return "\(place) cannot be encoded as a form: \(root) has no names"
        case .invalidURL: return "\(place) cannot be put into the query: the request has no valid URL"
        }
    }

    /// The same error, seen from the container that holds the value under a name.
    func inside(_ name: String, isRoot: Bool) -> Self {
        Self(reason, at: (isRoot ? name : "[\(name)]") + keyPath)
    }
}
