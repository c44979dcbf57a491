// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The secrets to redact in a log: the values of header fields, query items, and fields of JSON and form bodies.
///
/// ```swift
/// var redaction = LogRedaction()
/// redaction.fields.formUnion(["iban", "user.address", "cards.number"])
/// NetworkLoggerPlugin(level: .body, redaction: redaction)
/// ```
public struct LogRedaction: Sendable, Hashable {
    /// The secret header fields; default: `HeaderRedaction.standard`. A field whose name is in ``fields`` is
    /// secret too, and so are the provider's plugins' `Plugin.secretHeaders`, unless no header field is secret here.
    public var headers: HeaderRedaction

    /// The secret query items and body fields; default: the names that are commonly used for secrets.
    ///
    /// - A name matches all fields with the name, at any depth.
    /// - A key path, which consists of names separated by dots, matches only the field at the key path. Array indices
    ///   are omitted: `cards.number` matches the number of each card.
    ///
    /// Letter case, `-` and `_` are ignored: `api_key` also matches `apiKey` and `API-Key`.
    public var fields: Set<String> {
        didSet { index() }
    }

    private var names: Set<String> = []
    private var paths: Set<[String]> = []
    /// The number of names in the longest key path.
    private(set) var longestPath = 0

    /// Creates a redaction with the defaults of ``headers`` and ``fields``. User and password of a URL are redacted,
    /// too.
    public init() {
        self.init(headers: .standard, fields: SecretFields.standard)
    }

    package init(headers: HeaderRedaction = .standard, fields: Set<String>) {
        self.headers = headers
        self.fields = fields
        index()
    }

    /// Redacts nothing. The log then contains passwords and tokens.
    public static let none = LogRedaction(headers: HeaderRedaction(secretNames: []), fields: [])

    private mutating func index() {
        let all = fields.map { Self.components(of: $0) }
        names = Set(all.filter { $0.count == 1 }.compactMap(\.first))
        paths = Set(all.filter { $0.count > 1 })
        longestPath = paths.map(\.count).max() ?? 0
    }
}

extension LogRedaction {
    var isNone: Bool { headers.secretNames.isEmpty && fields.isEmpty }

    /// This redaction with the fields in which plugins put secrets. Of the standard fields, those that this redaction
    /// has stay.
    func adding(_ secretHeaders: Set<HTTPHeaderName>) -> LogRedaction {
        guard !headers.secretNames.isEmpty else { return self }
        var redaction = self
        redaction.headers.secretNames.formUnion(secretHeaders.subtracting(HeaderRedaction.standard.secretNames))
        return redaction
    }

    /// Whether the field with that path of names is secret.
    func isSecret(_ path: [String]) -> Bool {
        path.last.map(names.contains) == true || (!paths.isEmpty && paths.contains(path))
    }

    /// The form in which names are compared.
    static func normalized(_ name: some StringProtocol) -> String {
        SecretFields.normalized(name)
    }

    /// The names of `user.name` and of a form's `user[name]`, without array indices.
    private static func components(of name: String) -> [String] {
        name.split { $0 == "." || $0 == "[" || $0 == "]" }
            .filter { part in part != "*" && !part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            .map(normalized)
    }

    /// The value of a header field for the log.
    func header(_ value: String, name: String) -> String {
        let field = HTTPHeaderName(rawValue: name)
        if isSecret([Self.normalized(name)]) { return HeaderRedaction.placeholder }
        let shown = headers.value(value, for: field)
        return field == .location || field == "Referer" || field == "Content-Location" ? url(shown) : shown
    }

    /// A URL for the log, without its fragment, which is not sent.
    func url(_ text: String) -> String {
        let whole = text[..<(text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)]
        guard !isNone else { return String(whole) }
        guard let mark = whole.utf8.firstIndex(of: UInt8(ascii: "?")) else { return withoutUser(whole) }
        let query = whole[whole.utf8.index(after: mark)...]
        return withoutUser(whole[..<mark]) + "?" + form(query, limit: .max).text
    }

    /// Pairs of `name=value`, separated by `&`, and whether they were cut off at the limit.
    func form(_ text: some StringProtocol, limit: Int) -> (text: String, isCut: Bool) {
        let text = Substring(text)
        var result = ""
        result.reserveCapacity(min(limit, text.utf8.count) + 64)
        for (index, pair) in text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .enumerated()
        {
            guard result.utf8.count < limit else { return (result, true) }
            if index > 0 { result += "&" }
            if let end = pair.firstIndex(of: UInt8(ascii: "=")), isSecret(formName: Substring(pair[..<end])) {
                result += Substring(pair[..<end]) + "=" + HeaderRedaction.placeholder
            } else {
                result += Substring(pair)
            }
        }
        return (result, false)
    }

    private func isSecret(formName name: Substring) -> Bool {
        // Most names are neither escaped nor a path.
        if paths.isEmpty, name.utf8.allSatisfy(\.isPartOfPlainName) { return names.contains(Self.normalized(name)) }
        let text = name.replacingOccurrences(of: "+", with: " ")
        let path = Self.components(of: text.removingPercentEncoding ?? text)
        return path.indices.contains { isSecret(Array(path[...$0])) }
    }

    private func withoutUser(_ address: Substring) -> String {
        guard address.utf8.contains(UInt8(ascii: "@")), let scheme = address.range(of: "://") else {
            return String(address)
        }
        let authority = address[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address) }
        return address[..<scheme.upperBound] + HeaderRedaction.placeholder + address[at...]
    }
}

extension UInt8 {
    fileprivate var isPartOfPlainName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
