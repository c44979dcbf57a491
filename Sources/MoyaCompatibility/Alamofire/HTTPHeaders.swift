// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Header fields in order, one for each name. Names are case-insensitive.
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPHeader] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list. If two fields have the same name, the list contains the last one.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// Creates a list from a dictionary, in no particular order.
    public init(_ dictionary: [String: String]) {
        for (name, value) in dictionary { update(name: name, value: value) }
    }

    /// Adds a field, or replaces the field with the same name.
    public mutating func add(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Adds a field, or replaces the field with the same name.
    public mutating func add(_ header: HTTPHeader) {
        update(header)
    }

    /// Adds a field, or replaces the field with the same name.
    public mutating func update(name: String, value: String) {
        update(HTTPHeader(name: name, value: value))
    }

    /// Adds a field, or replaces the field with the same name.
    public mutating func update(_ header: HTTPHeader) {
        if let index = index(of: header.name) { fields[index] = header } else { fields.append(header) }
    }

    /// Removes the field with a name, if any.
    public mutating func remove(name: String) {
        if let index = index(of: name) { fields.remove(at: index) }
    }

    /// Sorts the fields by name, ignoring case.
    public mutating func sort() {
        fields.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Returns the fields sorted by name, ignoring case.
    public func sorted() -> HTTPHeaders {
        var headers = self
        headers.sort()
        return headers
    }

    /// The value of the field with a name; `nil` if there is none.
    public func value(for name: String) -> String? {
        index(of: name).map { fields[$0].value }
    }

    /// The value of the field with a name. Setting `nil` removes the field.
    public subscript(_ name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
        }
    }

    /// The fields as a dictionary.
    public var dictionary: [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    private func index(of name: String) -> Int? {
        let name = name.lowercased()
        return fields.firstIndex { $0.name.lowercased() == name }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates a list. If two fields have the same name, the list contains the last one.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }

    /// Creates a list. If two fields have the same name, the list contains the last one.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: Collection {
    /// The index of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The index after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at an index.
    public subscript(position: Int) -> HTTPHeader { fields[position] }
    /// The index after another one.
    public func index(after index: Int) -> Int { fields.index(after: index) }
}

extension HTTPHeaders: CustomStringConvertible {
    /// A field on each line, with its value.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders {
    /// The fields that Moya's default session adds to each request: `Accept-Encoding`, `Accept-Language` and
    /// `User-Agent`.
    public static let `default`: HTTPHeaders = [
        .defaultAcceptEncoding, .defaultAcceptLanguage, .defaultUserAgent,
    ]
}

/// A header field.
public struct HTTPHeader: Sendable, Hashable, CustomStringConvertible {
    /// The name of the field.
    public let name: String
    /// The value of the field.
    public let value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// The name and the value.
    public var description: String { "\(name): \(value)" }
}

extension HTTPHeader {
    /// `Accept`.
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// `Accept-Charset`.
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }
    /// `Accept-Language`.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }
    /// `Accept-Encoding`.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }
    /// `Authorization` with the scheme `Basic` (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic " + Data("\(username):\(password)".utf8).base64EncodedString())
    }
    /// `Authorization` with the scheme `Bearer` (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }
    /// `Authorization`.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// `Content-Disposition`.
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }
    /// `Content-Type`.
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// `User-Agent`.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }

    /// The codings that the transports decode: gzip and deflate.
    public static let defaultAcceptEncoding = acceptEncoding("gzip, deflate")

    /// Up to six of the user's preferred languages, in order of decreasing quality.
    public static let defaultAcceptLanguage = acceptLanguage(
        Locale.preferredLanguages.prefix(6).enumerated()
            .map { index, language in "\(language);q=\(1.0 - Double(index) * 0.1)" }
            .joined(separator: ", ")
    )

    /// The name, version and build of the app, and the version of the system.
    public static let defaultUserAgent: HTTPHeader = {
        let info = Bundle.main.infoDictionary
        let program = ProcessInfo.processInfo.arguments.first?.split(separator: "/").last.map(String.init)
        let name = info?["CFBundleExecutable"] as? String ?? program ?? "Unknown"
        let bundle = info?["CFBundleIdentifier"] as? String ?? "Unknown"
        let version = info?["CFBundleShortVersionString"] as? String ?? "Unknown"
        let build = info?["CFBundleVersion"] as? String ?? "Unknown"
        let system = ProcessInfo.processInfo.operatingSystemVersionString
        return userAgent("\(name)/\(version) (\(bundle); build:\(build); \(system)) TargetKit")
    }()
}

extension URLRequest {
    /// The header fields of the request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set {
            for name in (allHTTPHeaderFields ?? [:]).keys where newValue[name] == nil {
                setValue(nil, forHTTPHeaderField: name)
            }
            for header in newValue { setValue(header.value, forHTTPHeaderField: header.name) }
        }
    }
}

extension HTTPURLResponse {
    /// The header fields of the response.
    public var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in allHeaderFields {
            if let name = name as? String, let value = value as? String { headers.add(name: name, value: value) }
        }
        return headers
    }
}

extension URLSessionConfiguration {
    /// The header fields that the session adds to requests without them.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(httpAdditionalHeaders as? [String: String] ?? [:]) }
        set { httpAdditionalHeaders = newValue.dictionary }
    }

    /// Configurations with `HTTPHeaders.default`.
    public enum DefaultHeaders {
        /// The default configuration.
        public static var `default`: URLSessionConfiguration { .default.withDefaultHeaders }
        /// The ephemeral configuration.
        public static var ephemeral: URLSessionConfiguration { .ephemeral.withDefaultHeaders }
    }

    /// Configurations with `HTTPHeaders.default`: `URLSessionConfiguration.af.default`.
    public static var af: DefaultHeaders.Type { DefaultHeaders.self }

    private var withDefaultHeaders: URLSessionConfiguration {
        headers = .default
        return self
    }
}
