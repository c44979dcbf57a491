// SPDX-License-Identifier: MIT
import TargetKit

/// The parameters of a request.
public typealias Parameters = [String: Any]

/// Writes parameters into a request.
public protocol ParameterEncoding {
    /// Returns the request with the parameters.
    ///
    /// - Throws: An error, for example ``AFError/parameterEncodingFailed(reason:)``.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// Writes parameters into the query, or into a body of the type `application/x-www-form-urlencoded`.
///
/// Keys are sorted. The keys of a nested dictionary are in brackets, for example `user[name]=Ann`, and are also sorted.
public struct URLEncoding: ParameterEncoding, Sendable {
    /// The destination of the parameters.
    public enum Destination: Sendable {
        /// Into the query of GET, HEAD and DELETE, and into the body of other methods.
        case methodDependent
        /// Into the query.
        case queryString
        /// Into the body.
        case httpBody

        func isQuery(of request: URLRequest) -> Bool {
            switch self {
            case .methodDependent: ["GET", "HEAD", "DELETE"].contains(request.httpMethod)
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// The naming of array elements.
    public enum ArrayEncoding: Sendable {
        /// `key[]`.
        case brackets
        /// `key`.
        case noBrackets
        /// `key[0]`.
        case indexInBrackets
    }

    /// The representation of Boolean values.
    public enum BoolEncoding: Sendable {
        /// `1` and `0`.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// An encoding whose destination depends on the method.
    public static var `default`: URLEncoding { URLEncoding() }
    /// An encoding into the query.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
    /// An encoding into the body.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// The destination of the parameters.
    public let destination: Destination
    /// The naming of array elements.
    public let arrayEncoding: ArrayEncoding
    /// The representation of Boolean values.
    public let boolEncoding: BoolEncoding

    /// Creates an encoding.
    ///
    /// - Parameters:
    ///   - destination: The destination of the parameters; default: depends on the method.
    ///   - arrayEncoding: The naming of array elements; default: with brackets.
    ///   - boolEncoding: The representation of Boolean values; default: as numbers.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Returns the request with the parameters in its query or body.
    ///
    /// - Throws: ``AFError/parameterEncodingFailed(reason:)`` if the request has no URL.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        guard destination.isQuery(of: request) else {
            request.setContentType("application/x-www-form-urlencoded; charset=utf-8")
            request.httpBody = Data(query(parameters).utf8)
            return request
        }
        guard let url = request.url else { throw AFError.parameterEncodingFailed(reason: .missingURL) }
        guard !parameters.isEmpty else { return request }
        request.url = url.appending(escapedQuery: query(parameters))
        return request
    }

    /// Returns the names and values of a parameter, escaped: one for a single value, more for an array or dictionary.
    public func queryComponents(fromKey key: String, value: Any) -> [(String, String)] {
        // Most values are strings and numbers, and a cast to a dictionary is slow.
        if let text = value as? String { return [(escape(key), escape(text))] }
        if let number = value as? Int, !(type(of: value) is NSNumber.Type) { return [(escape(key), "\(number)")] }
        if let dictionary = value as? [String: Any] {
            return dictionary.sorted { $0.key < $1.key }
                .flatMap { queryComponents(fromKey: "\(key)[\($0.key)]", value: $0.value) }
        }
        if let array = value as? [Any] {
            return array.enumerated()
                .flatMap { queryComponents(fromKey: name(key, at: $0.offset), value: $0.element) }
        }
        return [(escape(key), escape(text(of: value)))]
    }

    /// Escapes every character that is neither unreserved (RFC 3986 §2.3) nor `/` or `?`.
    public func escape(_ string: String) -> String {
        PercentEncoding.encode(string)
    }

    private func query(_ parameters: Parameters) -> String {
        var text = ""
        for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
            for (name, value) in queryComponents(fromKey: key, value: value) {
                if !text.isEmpty { text += "&" }
                text += name
                text += "="
                text += value
            }
        }
        return text
    }

    private func name(_ key: String, at index: Int) -> String {
        switch arrayEncoding {
        case .brackets: "\(key)[]"
        case .noBrackets: key
        case .indexInBrackets: "\(key)[\(index)]"
        }
    }

    private func text(of value: Any) -> String {
        // Foundation casts the number 1 to a Boolean value, so its encoded type decides.
        if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
            return String(cString: number.objCType) == "c" ? text(of: number.boolValue) : "\(number)"
        }
        if type(of: value) == Double.self, let number = value as? Double { return text(of: number) }
        if type(of: value) == Float.self, let number = value as? Float { return text(of: number) }
        if type(of: value) == CGFloat.self, let number = value as? CGFloat { return text(of: number) }
        return (value as? Bool).map(text) ?? "\(value)"
    }

    /// The text of a number in the format of `NSNumber`, in which integers have no fraction.
    private func text(of number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        let isWhole = number.rounded() == number && number.magnitude < 1e16
        return isWhole ? "\(Int64(number))" : number.description
    }

    private func text(of value: Bool) -> String {
        switch boolEncoding {
        case .numeric: value ? "1" : "0"
        case .literal: value ? "true" : "false"
        }
    }
}

/// Writes parameters as JSON into the body.
public struct JSONEncoding: ParameterEncoding, Sendable {
    /// An encoding without options.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// An encoding with line breaks and indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// The options of the JSON text.
    public let options: JSONSerialization.WritingOptions

    /// Creates an encoding.
    ///
    /// - Parameter options: The options of the JSON text; default: none.
    public init(options: JSONSerialization.WritingOptions = []) {
        self.options = options
    }

    /// Returns the request with the parameters in its body, and the content type `application/json` unless it has one.
    ///
    /// - Throws: ``AFError/parameterEncodingFailed(reason:)`` if the parameters aren't JSON values.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encode(urlRequest, withJSONObject: parameters)
    }

    /// Returns the request with a JSON value in its body, for example an array.
    ///
    /// - Throws: ``AFError/parameterEncodingFailed(reason:)`` if the value isn't a JSON array or object.
    public func encode(
        _ urlRequest: any URLRequestConvertible,
        withJSONObject jsonObject: Any? = nil
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        // Foundation raises an exception, or traps, for other values.
        guard JSONSerialization.isValidJSONObject(jsonObject) else {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: InvalidJSONObject()))
        }
        do {
            request.httpBody = try JSONSerialization.data(withJSONObject: jsonObject, options: options)
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        request.setContentType("application/json")
        return request
    }
}

/// An error for parameters with a value that JSON can't represent.
struct InvalidJSONObject: LocalizedError {
    var errorDescription: String? { "The parameters contain a value that JSON can't represent." }
}

extension URLRequest {
    /// Sets the content type unless the request has one.
    mutating func setContentType(_ type: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil { setValue(type, forHTTPHeaderField: "Content-Type") }
    }
}

extension CharacterSet {
    /// The characters that aren't escaped in a query: letters, digits, and `-._~/?`.
    public static let afURLQueryAllowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?"
    )
}
