// SPDX-License-Identifier: MIT

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Puts named parameters into a request: into its query or into its body.
///
/// TargetKit comes with ``URLEncoding`` (`.url`, `.query`, `.form`) and ``JSONEncoding`` (`.json`). A format of your own
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
    /// - Throws: An error that says which parameter cannot be encoded, ``ParameterEncodingError`` in TargetKit's own.
    func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest
}
