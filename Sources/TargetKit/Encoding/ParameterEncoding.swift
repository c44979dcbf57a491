// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Encodes named parameters into the query or the body of a request.
///
/// TargetKit has ``URLEncoding`` (`.url`, `.query`, `.form`) and ``JSONEncoding`` (`.json`). A format of your own
/// conforms to this protocol and returns the request with its bytes in it:
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
/// The same parameters should give the same bytes each time: sort the keys, since a dictionary's order changes from one
/// run to the next. Whether a method may have a body is checked when the endpoint becomes a request, not here.
public protocol ParameterEncoding: Sendable {
    /// The request with the parameters in it.
    ///
    /// - Parameters:
    ///   - parameters: Names and values. Which types a value may have, the encoding says.
    ///   - request: The request so far; what it has (a query, a Content-Type) is kept.
    /// - Throws: An error that names the parameter that cannot be encoded.
    func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest
}

/// The reason why parameters could not be encoded, and which of them is invalid.
///
/// It contains types and names, never a value: a parameter can be a password.
package struct ParameterEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was wrong.
    package enum Reason: Sendable, Hashable {
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
    package static let maximumDepth = 512

    /// What was wrong.
    package let reason: Reason

    /// The name of the value in a form: `user[tags][0]`. Empty for the whole.
    package let keyPath: String

    /// Makes an error about the value at a key path.
    package init(_ reason: Reason, at keyPath: String = "") {
        self.reason = reason
        self.keyPath = keyPath
    }

    /// The reason and the name of the value in one line, without the value.
    package var description: String {
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

extension URLRequest {
    /// Appends a query to the URL's own, which is kept byte for byte, before any fragment.
    ///
    /// - Parameter write: Returns the text it is given with the escaped query after it.
    /// - Throws: ``ParameterEncodingError`` when the request has no URL, and what `write` throws.
    mutating func appendQuery(_ write: (String) throws -> ByteBuffer) throws {
        guard let (base, fragment) = url?.openForQuery else { throw ParameterEncodingError(.invalidURL) }
        var whole = try write(base)
        guard whole.count > base.utf8.count else { return }
        whole.append(fragment)
        guard let longer = URL(escaped: whole.string) else { throw ParameterEncodingError(.invalidURL) }
        url = longer
    }

    /// Sets a form body, and the Content-Type that the WHATWG URL standard gives it unless there is one.
    mutating func setFormBody(_ data: Data) {
        httpBody = data
        setContentTypeIfAbsent(URLEncoding.contentType)
    }

    /// Sets a JSON body, and the Content-Type that RFC 8259 §11 gives it unless there is one.
    mutating func setJSONBody(_ data: Data) {
        httpBody = data
        setContentTypeIfAbsent("application/json")
    }

    private mutating func setContentTypeIfAbsent(_ type: String) {
        guard value(forHTTPHeaderField: "Content-Type") == nil else { return }
        setValue(type, forHTTPHeaderField: "Content-Type")
    }
}
