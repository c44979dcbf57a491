// SPDX-License-Identifier: MIT

/// Encodes named parameters into the query or the body of a request.
///
/// TargetKit provides ``URLEncoding`` (`.url`, `.query`, `.form`) and ``JSONEncoding`` (`.json`). For another format,
/// conform to this protocol and return the request with the encoded parameters:
/// ```swift
/// struct LineEncoding: ParameterEncoding {
///     func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest {
///         var request = request
///         let lines = parameters.keys.sorted().map { "\($0)" }
///         request.httpBody = Data(lines.joined(separator: "\n").utf8)
///         return request
///     }
/// }
/// ```
/// Equal parameters should give equal bytes. Sort the keys, because a dictionary's order changes between runs.
/// TargetKit checks later whether the method allows a body.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with the parameters added.
    ///
    /// - Parameters:
    ///   - parameters: The names and values. The encoding determines which types it supports.
    ///   - request: The request. Keep its existing query and Content-Type.
    /// - Throws: An error that names the parameter that can't be encoded.
    func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest
}

/// The reason why parameters couldn't be encoded, and which of them is invalid.
///
/// It contains types and names, but no values, because a parameter can be a password.
struct ParameterEncodingError: Error, Sendable, Hashable, ReflectsDescription {
    /// The reason for the failure.
    enum Reason: Sendable, Hashable {
        /// The format doesn't support values of the type.
        case unsupportedType(String)
        /// The type can't be converted to a dictionary key.
        case unsupportedKey(String)
        /// A number or a date that is NaN or infinite.
        case notFinite
        /// A date outside the years 1 to 9999, which have no four-digit form in ISO 8601.
        case dateOutOfRange
        /// The nesting is deeper than ``ParameterEncodingError/maximumDepth``.
        case tooDeep
        /// The top-level value of a form has no names. The associated value describes the value.
        case rootWithoutKeys(String)
        /// The request has no URL, or its URL contains invalid characters.
        case invalidURL
    }

    /// The maximum nesting depth of dictionaries and arrays: 512, the limit of Foundation's JSON parser.
    static let maximumDepth = 512

    /// The reason for the failure.
    let reason: Reason

    /// The name of the value in a form, for example `user[tags][0]`. Empty for the top-level value.
    let keyPath: String

    /// Creates an error for the value at a key path.
    init(_ reason: Reason, at keyPath: String = "") {
        self.reason = reason
        self.keyPath = keyPath
    }

    /// The reason and the name of the value in one line, without the value.
    var description: String {
        let place = keyPath.isEmpty ? "the parameters" : "the parameter \(keyPath)"
        switch reason {
        case .unsupportedType(let type): return "\(place) can't be encoded: values of type \(type) aren't supported"
        case .unsupportedKey(let type): return "\(place) can't be encoded: a \(type) can't be a key"
        case .notFinite: return "\(place) can't be encoded: it is NaN or infinite"
        case .dateOutOfRange: return "\(place) can't be encoded: the date is outside the years 1 to 9999"
        case .tooDeep: return "\(place) can't be encoded: it is nested deeper than \(Self.maximumDepth) levels"
        case .rootWithoutKeys(let root): return "\(place) can't be encoded as a form: \(root) has no names"
        case .invalidURL: return "\(place) can't be added to the query: the request has no valid URL"
        }
    }

    /// This error with the name of an enclosing container added to its key path.
    func inside(_ name: String, isRoot: Bool) -> Self {
        Self(reason, at: (isRoot ? name : "[\(name)]") + keyPath)
    }
}

extension URLRequest {
    /// Sets a body, and its Content-Type unless there is one.
    mutating func setBody(_ data: Data, contentType: String) {
        httpBody = data
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(contentType, forHTTPHeaderField: "Content-Type")
    }
}
