// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// What a log does not show: the values of secret header fields, query items, and fields of JSON and form bodies.
///
/// ```swift
/// var redaction = LogRedaction.standard
/// redaction.fields.formUnion(["iban", "user.address", "cards.number"])
/// NetworkLoggerPlugin(level: .body, options: .init(redaction: redaction))
/// ```
public struct LogRedaction: Sendable, Hashable {
    /// Which header fields are secret. A field whose name is in ``fields`` is secret too.
    public var headers: HeaderRedaction

    /// Which query items and fields of bodies are secret.
    ///
    /// - A name means the field of that name at any depth, with all that is in it.
    /// - A key path, names with dots between them, means the field at that place alone. Arrays are gone through: the
    ///   path `cards.number` means the number of each card.
    ///
    /// Letters are compared without regard to case, and `-` and `_` do not count: `api_key` means `apiKey` and
    /// `API-Key`, too.
    public var fields: Set<String> {
        didSet { index() }
    }

    private var names: Set<String> = []
    private var paths: Set<[String]> = []
    /// How many names the longest key path has.
    private(set) var longestPath = 0

    /// A redaction of those header fields, query items and fields of bodies.
    public init(headers: HeaderRedaction = .standard, fields: Set<String> = Self.standardFields) {
        self.headers = headers
        self.fields = fields
        index()
    }

    /// `HeaderRedaction.standard` and ``standardFields``; user and password of a URL are left out.
    public static let standard = LogRedaction()

    /// Nothing is redacted: the log then holds passwords and tokens, keep it where they may be.
    public static let none = LogRedaction(headers: HeaderRedaction(secretNames: []), fields: [])

    /// The names that hold secrets by wide custom.
    public static let standardFields: Set<String> = SecretFields.standard

    private mutating func index() {
        let all = fields.map { Self.components(of: $0) }
        names = Set(all.filter { $0.count == 1 }.compactMap(\.first))
        paths = Set(all.filter { $0.count > 1 })
        longestPath = paths.map(\.count).max() ?? 0
    }
}

extension LogRedaction {
    var isNone: Bool { headers.secretNames.isEmpty && fields.isEmpty }

    /// Whether the field at that place, its name last, is secret by itself.
    func isSecret(_ path: [String]) -> Bool {
        path.last.map(names.contains) == true || (!paths.isEmpty && paths.contains(path))
    }

    /// The name as names are compared.
    static func normalized(_ name: some StringProtocol) -> String {
        SecretFields.normalized(name)
    }

    /// The names of `user.name` and of a form's `user[name]`, without array indices.
    private static func components(of name: String) -> [String] {
        name.split { $0 == "." || $0 == "[" || $0 == "]" }
            .filter { part in part != "*" && !part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            .map(normalized)
    }

    /// The value of a header field as it is logged.
    func header(_ value: String, name: String) -> String {
        let field = HTTPHeaderName(rawValue: name)
        if isSecret([Self.normalized(name)]) { return HeaderRedaction.placeholder }
        let shown = headers.value(value, for: field)
        return field == .location || field == "Referer" || field == "Content-Location" ? url(shown) : shown
    }

    /// A URL as it is logged: without the fragment, which is not sent.
    func url(_ text: String) -> String {
        let whole = text.prefix { $0 != "#" }
        guard !isNone else { return String(whole) }
        let address = whole.prefix { $0 != "?" }
        let query = whole.dropFirst(address.count + 1)
        let place = withoutUser(address)
        return address.endIndex == whole.endIndex ? place : place + "?" + form(query, limit: .max).text
    }

    /// Pairs of `name=value` with `&` between them, and whether they were cut off at the limit.
    func form(_ text: some StringProtocol, limit: Int) -> (text: String, isCut: Bool) {
        var result = ""
        for (index, pair) in text.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
            guard result.utf8.count < limit else { return (result, true) }
            if index > 0 { result += "&" }
            let name = pair.prefix { $0 != "=" }
            let isWhole = name.endIndex == pair.endIndex || !isSecret(formName: name)
            result += isWhole ? String(pair) : name + "=" + HeaderRedaction.placeholder
        }
        return (result, false)
    }

    private func isSecret(formName name: some StringProtocol) -> Bool {
        let text = name.replacingOccurrences(of: "+", with: " ")
        let path = Self.components(of: text.removingPercentEncoding ?? text)
        return path.indices.contains { isSecret(Array(path[...$0])) }
    }

    private func withoutUser(_ address: Substring) -> String {
        guard let scheme = address.range(of: "://") else { return String(address) }
        let authority = address[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(address) }
        return address[..<scheme.upperBound] + HeaderRedaction.placeholder + address[at...]
    }
}
