// SPDX-License-Identifier: MIT

/// The method of a request (RFC 9110 §9). Any other token can be created with `init(rawValue:)` or a literal.
///
/// Methods are case-sensitive: `"get"` isn't `GET` (RFC 9110 §9.1). A method that isn't an RFC 9110 token is an error
/// when the request is built.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The method in a request, for example `GET`.
    public let rawValue: String

    /// Creates a method. It is sent unchanged.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a method. It is sent unchanged.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The method as it is sent.
    public var description: String { rawValue }

    /// Retrieves a representation of the resource (RFC 9110 §9.3.1).
    public static let get = Self(rawValue: "GET")
    /// Retrieves the head of the response only (RFC 9110 §9.3.2).
    public static let head = Self(rawValue: "HEAD")
    /// Submits the body to the resource for processing (RFC 9110 §9.3.3).
    public static let post = Self(rawValue: "POST")
    /// Replaces the resource (RFC 9110 §9.3.4).
    public static let put = Self(rawValue: "PUT")
    /// Removes the resource (RFC 9110 §9.3.5).
    public static let delete = Self(rawValue: "DELETE")
    /// Retrieves the communication options of the resource (RFC 9110 §9.3.7).
    public static let options = Self(rawValue: "OPTIONS")
    /// Echoes the request (RFC 9110 §9.3.8).
    public static let trace = Self(rawValue: "TRACE")
    /// Changes a part of the resource (RFC 5789).
    public static let patch = Self(rawValue: "PATCH")
    /// Queries the resource safely, with the query in the body (draft-ietf-httpbis-safe-method-w-body).
    public static let query = Self(rawValue: "QUERY")
}

extension HTTPMethod {
    /// The idempotent methods of RFC 9110 §9.2.2, and QUERY, which is safe.
    package static let idempotent: [HTTPMethod] = [.get, .head, .options, .trace, .put, .delete, .query]
}
