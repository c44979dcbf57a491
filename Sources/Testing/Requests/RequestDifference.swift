// SPDX-License-Identifier: MIT
import TargetKit

extension RedactedRequest {
    /// The request as text that is equal in every run, without secrets:
    ///
    /// ```
    /// POST /orders?dry=1
    /// Content-Type: application/json
    /// Host: shop.example
    ///
    /// {
    ///   "count" : 2
    /// }
    /// ```
    ///
    /// The header fields are sorted by name. An unencrypted URL includes its scheme (RFC 9112 §3.2.2). For the body,
    /// see ``BodyContent/text``.
    package var text: String {
        let type = headers[.contentType]
        let content = BodyContent(body, contentType: type)
        var fields = headers
        let (scheme, authority, path) = Self.parts(of: address)
        if !fields.contains("Host"), !authority.isEmpty { fields.add("Host", value: authority) }
        let isPlain = scheme.lowercased() == "http"
        let place = isPlain ? "\(scheme)://\(authority)\(path)" : path.isEmpty ? "/" : path
        let target = place + (query.map { "?" + $0 } ?? "")
        let head = ["\(method) \(target)".inOneLine] + fields.sortedLines(of: content)
        let lines = head.joined(separator: "\n")
        return content == .empty ? lines : lines + "\n\n" + content.text
    }

    /// The scheme, host with port, and path of an absolute URL. The user information isn't part of a request
    /// (RFC 9110 §4.2.4).
    private static func parts(of address: String) -> (scheme: String, authority: String, path: String) {
        guard let separator = address.range(of: "://") else { return ("", "", address) }
        let authority = address[separator.upperBound...].prefix { $0 != "/" }
        let path = address[authority.endIndex...]
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return (String(address[..<separator.lowerBound]), String(host), String(path))
    }

    /// The differences from an expected request, one line each; empty if there are none.
    ///
    /// - Parameter names: The header fields to compare; default `nil`: all.
    package func differences(from expected: RedactedRequest, headers names: [HTTPHeaderName]? = nil) -> [String] {
        var lines: [String] = []
        if method != expected.method { lines.append("method: expected \(expected.method), found \(method)") }
        if address != expected.address { lines.append("URL: expected \(expected.address), found \(address)".inOneLine) }
        lines += FormItem.differences(expected.queryItems, found: queryItems, subject: "query")
        lines += headers.differences(from: expected.headers, names: names)
        if let sizes = BodyContent.sizeDifference(expected.body, found: body) { return lines + sizes }
        let content = BodyContent(body, contentType: headers[.contentType])
        let expectedContent = BodyContent(expected.body, contentType: expected.headers[.contentType])
        return lines + content.differences(from: expectedContent)
    }
}

extension HTTPHeaders {
    /// The differences from expected fields by name, for example `header Accept: missing, expected "text/html"`.
    ///
    /// - Parameter names: The fields to compare; default `nil`: all.
    package func differences(from expected: HTTPHeaders, names: [HTTPHeaderName]? = nil) -> [String] {
        var seen: Set<HTTPHeaderName> = []
        let names = names ?? (expected.fields + fields).map(\.name)
        return names.filter { seen.insert($0).inserted }.compactMap { name in
            difference("header \(name.rawValue)", expected: expected.text(of: name), found: text(of: name))
        }
    }

    private func text(of name: HTTPHeaderName) -> String? {
        let values = values(for: name)
        return values.isEmpty ? nil : values.map { "\"\($0)\"" }.joined(separator: ", ")
    }
}

/// The difference between two strings on one line; `nil` if there is none. A missing value is `nil`.
func difference(_ subject: String, expected: String?, found: String?) -> String? {
    guard expected != found else { return nil }
    let text =
        switch (expected, found) {
        case (let expected?, nil): "missing, expected \(expected.excerpt(160))"
        case (nil, let found?): "not expected, found \(found.excerpt(160))"
        default: "expected \((expected ?? "").excerpt(160)), found \((found ?? "").excerpt(160))"
        }
    return "\(subject): \(text)".inOneLine
}

extension BodyContent {
    /// The maximum size of bodies that messages compare by content, in bytes.
    static let comparisonLimit = 64 << 10

    /// The sizes of two bodies and the position of the first difference, if one of them is too large to be compared by
    /// content; otherwise `nil`. Empty if they are equal.
    static func sizeDifference(_ expected: Data, found: Data) -> [String]? {
        guard max(expected.count, found.count) > comparisonLimit else { return nil }
        guard expected != found else { return [] }
        let offset = expected.firstDifference(from: found)
        return [
            "body: expected \(expected.count) bytes, found \(found.count); the first difference is at byte \(offset) "
                + "(bodies larger than \(comparisonLimit >> 10) KB are compared by byte)"
        ]
    }

    /// The differences from an expected body, one line each: JSON by key path, forms by name, multipart bodies by the
    /// position of the part, text by line, and other bodies by size and digest.
    package func differences(from expected: BodyContent, subject: String = "body") -> [String] {
        guard self != expected else { return [] }
        switch (expected, self) {
        case (.json(let old), .json(let new)): return JSONDifference.lines(old, found: new, subject: subject)
        case (.form(let old), .form(let new)):
            let lines = FormItem.differences(old, found: new, subject: subject)
            return lines.isEmpty ? ["\(subject): the order of the items differs"] : lines
        case (.text(let old), .text(let new)):
            return ["\(subject): expected (-) and found (+)"] + TextDifference.lines(old, found: new)
        case (.multipart(let old), .multipart(let new)):
            let count =
                old.count == new.count ? [] : ["\(subject): expected \(old.count) parts, found \(new.count)"]
            return count
                + zip(old, new).enumerated().flatMap { index, pair in
                    pair.1.headers.differences(from: pair.0.headers).map { "\(subject) part \(index): \($0)" }
                        + pair.1.content.differences(from: pair.0.content, subject: "\(subject) part \(index)")
                }
        default: return ["\(subject): expected \(expected.summary), found \(summary)"]
        }
    }

    private var summary: String {
        switch self {
        case .empty, .multipart: formatName
        case .json, .form, .text:
            "\(formatName): \(text.split(whereSeparator: \.isNewline).joined(separator: " ").excerpt(80))"
        case .bytes(let data): data.summary
        }
    }
}

extension Data {
    /// The offset of the first differing byte, or the length of the shorter body if there is none.
    fileprivate func firstDifference(from other: Data) -> Int {
        withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in
                zip(bytes, others).enumerated().first { $0.element.0 != $0.element.1 }?.offset
                    ?? Swift.min(bytes.count, others.count)
            }
        }
    }
}
