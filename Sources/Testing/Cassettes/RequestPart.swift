// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// A part of a request that must match the recorded request.
public struct RequestPart: Sendable, Hashable {
    fileprivate enum Kind: Sendable, Hashable {
        case method, url, path, query, body, headers
        case header(HTTPHeaderName)
    }

    fileprivate let kind: Kind

    /// The method.
    public static let method = RequestPart(kind: .method)
    /// The scheme, host, port and path of the URL.
    public static let url = RequestPart(kind: .url)
    /// The path of the URL, for servers whose host or port varies.
    public static let path = RequestPart(kind: .path)
    /// The items of the query, decoded. The order of items with different names doesn't matter.
    public static let query = RequestPart(kind: .query)
    /// The body: JSON, forms and multipart bodies by their values, other bodies byte for byte.
    public static let body = RequestPart(kind: .body)

    /// All header fields.
    public static let headers = RequestPart(kind: .headers)

    /// A header field.
    public static func header(_ name: HTTPHeaderName) -> RequestPart {
        RequestPart(kind: .header(name))
    }
}

/// Compares requests by the declared parts of a cassette.
struct RequestComparison: Sendable {
    private let parts: Set<RequestPart>
    private let headers: [HTTPHeaderName]
    private let ignored: IgnoredFields

    init(_ parts: [RequestPart], ignoring names: Set<String>) {
        self.parts = Set(parts)
        headers = parts.compactMap { if case .header(let name) = $0.kind { name } else { nil } }
        ignored = IgnoredFields(names)
    }

    var comparesBody: Bool { parts.contains(.body) }

    /// The text of the parts that are cheap to compare. Requests with different keys don't match.
    func key(_ request: RedactedRequest) -> String {
        var key = parts.contains(.method) ? request.method : ""
        if parts.contains(.url) {
            key += " " + request.address
        } else if parts.contains(.path) {
            key += " " + request.path
        }
        return key
    }

    /// The differences in the declared parts, one line each.
    func differences(of found: RedactedRequest, from expected: RedactedRequest) -> [String] {
        var (found, expected) = (ignored.removed(from: found), ignored.removed(from: expected))
        let paths = (expected.path, found.path)
        if !parts.contains(.method) { found.method = expected.method }
        var lines: [String] = []
        if !parts.contains(.url) {
            (found.url, expected.url) = (found.query.map { "?" + $0 } ?? "", expected.query.map { "?" + $0 } ?? "")
            if parts.contains(.path), paths.0 != paths.1 { lines.append("path: expected \(paths.0), found \(paths.1)") }
        }
        if !parts.contains(.query) { (found.url, expected.url) = (found.address, expected.address) }
        if !parts.contains(.body) { (found.body, expected.body) = (Data(), Data()) }
        return lines + found.differences(from: expected, headers: parts.contains(.headers) ? nil : headers)
    }
}

/// The fields of requests that a cassette doesn't compare.
private struct IgnoredFields: Sendable {
    private let names: Set<String>

    init(_ names: Set<String>) {
        self.names = Set(names.map { SecretFields.normalized($0) })
    }

    func removed(from request: RedactedRequest) -> RedactedRequest {
        guard !names.isEmpty else { return request }
        var request = request
        let query = request.query.map { removed(from: $0) } ?? ""
        request.url = query.isEmpty ? request.address : "\(request.address)?\(query)"
        let type = request.headers[.contentType]
        request.headers.fields.removeAll { contains($0.name.rawValue) }
        if BodyFormat(of: request.body, contentType: type) == .form {
            request.body = Data(removed(from: String(decoding: request.body, as: UTF8.self)).utf8)
        } else if let json = try? JSONValue(parsing: request.body) {
            request.body = removed(from: json).jsonData()
        }
        return request
    }

    /// The items of a query or form that are compared.
    private func removed(from form: String) -> String {
        form.split(separator: "&").filter { item in
            !FormItem.items(of: String(item)).contains { contains($0.name) }
        }.joined(separator: "&")
    }

    private func removed(from json: JSONValue) -> JSONValue {
        switch json {
        case .array(let elements): .array(elements.map { removed(from: $0) })
        case .object(let object):
            .object(
                object.reduce(into: [:] as JSONObject) { copy, member in
                    if !contains(member.key) { copy[member.key] = removed(from: member.value) }
                }
            )
        default: json
        }
    }

    private func contains(_ name: String) -> Bool {
        names.contains(SecretFields.normalized(name))
    }
}

extension RedactedRequest {
    /// The path of the URL.
    package var path: String {
        guard let scheme = address.range(of: "://") else { return address }
        let path = address[scheme.upperBound...].drop { $0 != "/" }
        return path.isEmpty ? "/" : String(path)
    }

    /// The method and the URL, on one line.
    package var line: String { "\(method) \(url)".inOneLine }
}
