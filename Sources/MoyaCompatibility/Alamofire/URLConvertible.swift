// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A value that can be a URL.
public protocol URLConvertible: Sendable {
    /// Returns the URL.
    ///
    /// - Throws: An error, for example `AFError.invalidURL(url:)`.
    func asURL() throws -> URL
}

extension String: URLConvertible {
    /// Returns the URL of the text.
    ///
    /// - Throws: `AFError.invalidURL(url:)` if the text isn't a URL.
    public func asURL() throws -> URL {
        guard let url = URL(string: self) else { throw AFError.invalidURL(url: self) }
        return url
    }
}

extension URL: URLConvertible {
    /// Returns this URL.
    public func asURL() throws -> URL { self }
}

extension URLComponents: URLConvertible {
    /// Returns the URL of the components.
    ///
    /// - Throws: `AFError.invalidURL(url:)` if they don't form a URL.
    public func asURL() throws -> URL {
        guard let url else { throw AFError.invalidURL(url: self) }
        return url
    }
}

/// A value that can be a request.
public protocol URLRequestConvertible {
    /// Returns the request.
    ///
    /// - Throws: An error if the value isn't a request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequestConvertible {
    /// The request; `nil` if the value isn't one.
    public var urlRequest: URLRequest? { try? asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    /// Returns this request.
    public func asURLRequest() throws -> URLRequest { self }
}

extension URLRequest {
    /// Creates a request.
    ///
    /// - Throws: `AFError.invalidURL(url:)` if the value isn't a URL.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        httpMethod = method.rawValue
        if let headers { allHTTPHeaderFields = headers.dictionary }
    }
}
