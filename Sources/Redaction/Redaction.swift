// SPDX-License-Identifier: MIT
import TargetKit

/// The secrets to redact in a log or a recording: the values of header fields, query items, and fields of bodies.
///
/// A field is secret if its name contains a word such as `token`, `secret`, `password`, `session`, `credential`,
/// `auth`, `signature` or `captcha`, or if its last word is `key`, `sign` or `ticket`. Examples are `X-Session-Key`,
/// `accessToken`, `client_secret` and `paySign`. Pairs of words such as `verify_code` and `magicLink` are also secret,
/// and so are `ak`, `sk`, `tk`, `pan` and `mac` as the whole name, and `access` and `refresh` if the value looks like a
/// token: 16 or more characters without spaces, with a digit or a capital. Words that only contain these letters (`monkey`,
/// `author`, `design`, `macOS`), counts and properties (`max_tokens`, `token_type`), and names such as `publicKey`
/// aren't secret. In queries and forms, `code` is also secret. In a CSV body, columns with a secret name in the first
/// line are redacted in a recording, but not in a log.
///
/// ```swift
/// var redaction = Redaction()
/// redaction.secretFields = ["iban", "user.address", "cards.number"]
/// redaction.visibleFields = ["sort_token"]
/// NetworkLoggerPlugin(level: .body, redaction: redaction)
/// ```
public struct Redaction: Sendable, Hashable {
    /// Header fields that are secret in addition to fields with secret names; default: `HeaderRedaction.standard`.
    /// Unless this is empty, the `Plugin.secretHeaders` of the provider's plugins are also secret.
    public var headers: HeaderRedaction

    /// Header fields, query items and body fields that are secret in addition to fields with secret names; default:
    /// none.
    ///
    /// - A name matches all fields with the name, at any depth.
    /// - A key path, names separated by dots, matches only the field at the key path. Array indices are omitted, so
    ///   `cards.number` matches the number of each card.
    ///
    /// Letter case, `-` and `_` are ignored, so `home_address` also matches `homeAddress` and `HOME-ADDRESS`.
    public var secretFields: Set<String> {
        didSet { index() }
    }

    /// Fields that are shown despite their secret names; default: none. They are compared like ``secretFields``, which
    /// take precedence.
    public var visibleFields: Set<String> = [] {
        didSet { visibleNames = Set(visibleFields.map { SecretFields.normalized($0) }) }
    }

    /// Whether the words in names are examined.
    private let usesRule: Bool
    /// Whether personal data is redacted, too.
    private(set) var hidesPersonalData = false
    private var names: Set<String> = []
    private var visibleNames: Set<String> = []
    private var paths: [[String]] = []
    /// The number of names in the longest key path.
    private(set) var longestPath = 0

    /// Creates a redaction with the defaults. The user and password of a URL are also redacted.
    public init() {
        self.init(headers: .standard, fields: [], usesRule: true)
    }

    private init(headers: HeaderRedaction, fields: Set<String>, usesRule: Bool) {
        self.headers = headers
        self.secretFields = fields
        self.usesRule = usesRule
        index()
    }

    /// Redacts secrets and personal data.
    ///
    /// Personal data is the value of a field whose name is or ends with a word such as `mobile`, `phone`, `idCard`,
    /// `openid`, `realName`, `bankCard` or `email`, or contains `手机`, `身份证` or `姓名`, and any number in a text that is
    /// a mobile number of China or an international number, an identity number with its check digit, or a bank card's
    /// number with its check digit. Add names with ``secretFields``, and exempt names with ``visibleFields``.
    public static let personalData: Redaction = {
        var redaction = Redaction()
        redaction.hidesPersonalData = true
        return redaction
    }()

    /// Redacts only the ``secretFields`` and ``headers`` that are added to it. The log contains passwords and tokens.
    public static let none = Redaction(headers: HeaderRedaction(secretNames: []), fields: [], usesRule: false)

    private mutating func index() {
        let all = secretFields.map { Self.components(of: $0) }
        names = Set(all.filter { $0.count == 1 }.compactMap(\.first))
        paths = all.filter { $0.count > 1 }
        longestPath = paths.map(\.count).max() ?? 0
    }
}

extension Redaction {
    package var isNone: Bool { !usesRule && headers.secretNames.isEmpty && secretFields.isEmpty }

    /// This redaction with the fields in which plugins put secrets.
    package func adding(_ secretHeaders: Set<HTTPHeaderName>) -> Redaction {
        guard !headers.secretNames.isEmpty, !secretHeaders.isSubset(of: headers.secretNames) else { return self }
        var redaction = self
        // Standard fields that were removed here stay removed.
        for name in secretHeaders where !HeaderRedaction.standard.secretNames.contains(name) {
            redaction.headers.secretNames.insert(name)
        }
        return redaction
    }

    /// Whether fields with that name are secret at any position.
    package func isSecret(name: some StringProtocol) -> Bool {
        if !names.isEmpty, names.contains(SecretFields.normalized(name)) { return true }
        guard usesRule else { return false }
        let isHidden =
            SecretFields.isSecret(name)
            || hidesPersonalData && PersonalData.isName(SecretFields.normalized(name))
        return isHidden && (visibleNames.isEmpty || !visibleNames.contains(SecretFields.normalized(name)))
    }

    /// Whether a field with that name can be a token, of which the name tells only the purpose.
    static func namesToken(_ name: some StringProtocol) -> Bool {
        ["access", "refresh"].contains { String(name).equalsIgnoringASCIICase($0) }
    }

    /// Whether the field is a token, as in `{"access": "…", "refresh": "…"}`, and not `"access": "public"` or
    /// `"refresh": 3600`.
    func isToken(_ value: some Collection<UInt8>, named name: some StringProtocol) -> Bool {
        guard Self.namesToken(name), usesRule, value.count >= 16, value.allSatisfy(\.isPartOfToken68) else {
            return false
        }
        let hasSign = value.contains { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        return hasSign && !visibleNames.contains(name.lowercased())
    }

    /// Whether query items, form fields, and members of a token request with that name are secret.
    package func isSecret(parameter name: some StringProtocol) -> Bool {
        isSecret(parameterName: name) || hasSecretPath(String(name))
    }

    private func isSecret(parameterName name: some StringProtocol) -> Bool {
        if isSecret(name: name) { return true }
        return usesRule && String(name).equalsIgnoringASCIICase("code") && !visibleNames.contains("code")
    }

    /// Whether one of the names that were added is the name of a form's field, or a part of it: `account[iban]`.
    private func hasSecretPath(_ name: String) -> Bool {
        if names.isEmpty, paths.isEmpty { return false }
        let path = Self.components(of: name)
        return path.indices.contains { names.contains(path[$0]) || isSecret(path: Array(path[...$0])) }
    }

    /// Whether the field at that key path is secret. A name that contains dots, as in `{"user.address": "…"}`, counts as
    /// the names between them.
    func isSecret(path: [String]) -> Bool {
        if paths.isEmpty { return false }
        return paths.contains(path)
            || path.contains { $0.contains(".") } && paths.contains(path.flatMap { Self.components(of: $0) })
    }

    /// The names of `user.name` and of a form's `user[name]`, without array indices.
    private static func components(of name: String) -> [String] {
        name.split { $0 == "." || $0 == "[" || $0 == "]" }
            .filter { part in part != "*" && !part.utf8.allSatisfy { (0x30...0x39).contains($0) } }
            .map { SecretFields.normalized($0) }
    }

    /// The value of a header field for the log.
    package func header(_ value: String, name: String) -> String {
        let field = HTTPHeaderName(rawValue: name)
        if isNone { return value }
        if headers.secretNames.contains(field) || isSecret(name: name) {
            // For example, `Access-Control-Allow-Credentials: true`.
            return value == "true" || value == "false" ? value : SecretFields.placeholder
        }
        if field == "Upload-Metadata" { return metadata(value) }
        if HeaderRedaction.hasURL(field), field != "Link", field != "Refresh" { return url(value) }
        return hidesPersonalData || value.utf8.contains(where: \.startsSecret)
            ? TextRedactor.redacted(value, by: self) : value
    }

    /// Redacts tus's `Upload-Metadata` field, which has comma-separated pairs of a key and a Base64 value.
    package func metadata(_ field: String) -> String {
        field.split(separator: ",", omittingEmptySubsequences: false).map { pair in
            let value = pair.lastIndex(of: " ").map { pair[pair.index(after: $0)...] } ?? ""
            let key = pair.dropLast(value.count)
            let text = Data(base64Encoded: String(value)).flatMap { String(data: $0, encoding: .utf8) } ?? ""
            let isSecret =
                isSecret(name: key.trimmingCharacters(in: .whitespaces))
                || TextRedactor.redacted(text, by: self, depth: 1) != text
            return value.isEmpty || !isSecret ? String(pair) : key + SecretFields.placeholder
        }.joined(separator: ",")
    }

    /// A URL reference for the log, without its fragment, which isn't sent.
    package func url(_ text: String) -> String {
        ContiguousText.read(text) { bytes in
            let end = bytes.position(of: UInt8(ascii: "#")) ?? bytes.count
            let mark = bytes.position(of: UInt8(ascii: "?"), before: end) ?? end
            var copy = RedactedCopy(of: UnsafeBufferPointer(rebasing: bytes[..<end]))
            if !isNone {
                redact(address: mark, in: &copy)
                if mark < end { redact(form: mark + 1, limit: .max, in: &copy) }
            }
            // Most URLs have no secret.
            return copy.isUnchanged && end == bytes.count ? text : String(decoding: copy.all, as: UTF8.self)
        }
    }

    /// The redacted pairs of a form, and whether they were truncated at the limit.
    package func form(_ text: String, limit: Int) -> (bytes: [UInt8], isCut: Bool) {
        ContiguousText.read(text) { bytes in
            var copy = RedactedCopy(of: bytes)
            guard let end = redact(form: 0, limit: limit, in: &copy) else { return (copy.all, false) }
            return (copy.prefix(before: end), true)
        }
    }

    /// Redacts the pairs of a form.
    ///
    /// - Returns: The position at which they were truncated at the limit; `nil` if they weren't.
    @discardableResult
    private func redact(form: Int, limit: Int, in copy: inout RedactedCopy) -> Int? {
        let names = SecretNames()
        let bytes = copy.source
        var start = form
        while true {
            guard copy.count(before: start) < limit else { return start < bytes.count ? start : nil }
            let end = bytes.position(of: UInt8(ascii: "&"), from: start) ?? bytes.count
            let sign = bytes.position(of: UInt8(ascii: "="), from: start, before: end)
            if let sign {
                let value = UnsafeBufferPointer(rebasing: bytes[(sign + 1)..<end])
                let name = UnsafeBufferPointer(rebasing: bytes[start..<sign])
                if isSecret(name, value: value, names) || isToken(value, named: name) {
                    copy.replace((sign + 1)..<end, with: TextRedactor.placeholder)
                } else if let redacted = redacted(value) {
                    copy.replace((sign + 1)..<end, with: redacted.escapedInForm.utf8)
                }
            }
            guard end < bytes.count else { return nil }
            start = end + 1
        }
    }

    /// Whether an item of a form is secret, by its escaped name.
    private func isSecret(
        _ name: UnsafeBufferPointer<UInt8>,
        value: UnsafeBufferPointer<UInt8>,
        _ names: SecretNames
    ) -> Bool {
        // Most names aren't escaped, and most apps add no names.
        let isPlain = name.allSatisfy { $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+") }
        let isShort = self.names.isEmpty && paths.isEmpty && usesRule && !hidesPersonalData
        if isPlain, isShort, !names.isSecretParameter(utf8: name) { return false }
        let text = Self.decoded(name)
        if hasSecretPath(text) { return true }
        // A count, for example `tokens=12`.
        if text.hasSuffix("s"), !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) { return false }
        return isSecret(parameterName: text)
    }

    private func isToken(_ value: UnsafeBufferPointer<UInt8>, named name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard value.count >= 16, name.count == 6 || name.count == 7 else { return false }
        return isToken(Array(Self.decoded(value).utf8), named: String(decoding: name, as: UTF8.self))
    }

    /// The value of an item, with secrets redacted in nested JSON, URLs and forms; `nil` if there is none.
    private func redacted(_ value: UnsafeBufferPointer<UInt8>) -> String? {
        guard value.count > 7, hidesPersonalData || Self.canContainSecret(value) else { return nil }
        let text = Self.decoded(value)
        let redacted = TextRedactor.redacted(text, by: self, depth: 1)
        return redacted == text ? nil : redacted
    }

    /// Whether an escaped value can be more than plain text.
    private static func canContainSecret(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        if tokenStarts.contains(where: { value.starts(with: $0) }) { return true }
        return value.indices.contains { index in
            let byte = value[index]
            guard byte == UInt8(ascii: "%") else { return byte.startsSecret && byte != UInt8(ascii: ".") }
            guard index + 2 < value.count else { return false }
            return escapes.contains(Self.pair(value[index + 1], value[index + 2]))
        }
    }

    /// The starts of JSON Web Tokens and keys.
    private static let tokenStarts = [Array("eyJ".utf8), Array("-----BEGIN".utf8)]

    /// `"`, `:`, `<`, `=` and `{`, and `%`, for text that is escaped twice.
    private static let escapes = ["22", "25", "3a", "3c", "3d", "7b"].map { text in
        text.utf8.reduce(0) { $0 << 8 | UInt16($1) }
    }

    private static func pair(_ first: UInt8, _ second: UInt8) -> UInt16 {
        UInt16(first.asciiLowercased) << 8 | UInt16(second.asciiLowercased)
    }

    private static func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }

    /// Redacts the user, secret path parameters and JSON Web Tokens of a URL before its query.
    private func redact(address end: Int, in copy: inout RedactedCopy) {
        let bytes = copy.source
        // The end of a user, or the start of a path parameter or of a JSON Web Token.
        let isPlain =
            !hidesPersonalData && bytes.position(of: UInt8(ascii: "@"), before: end) == nil
            && bytes.position(of: UInt8(ascii: ";"), before: end) == nil && !bytes.holdsToken(before: end)
        if isPlain { return }
        let address = bytes[..<end]
        var text = String(decoding: address, as: UTF8.self)
        if usesRule { text = SecretFields.redacted(path: text) }
        if hidesPersonalData { text = PersonalData.redacted(text) }
        if let start = text.range(of: "//") {
            let authority = text[start.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                text.replaceSubrange(start.upperBound..<at, with: SecretFields.placeholder)
            }
        }
        copy.replace(0..<end, with: text.utf8)
    }
}

/// A text with replaced parts, in their order. The parts between them are copied only if there is a replacement.
private struct RedactedCopy {
    let source: UnsafeBufferPointer<UInt8>
    private var bytes: [UInt8] = []
    /// The position before which the source is in ``bytes``.
    private var position = 0

    init(of source: UnsafeBufferPointer<UInt8>) {
        self.source = source
    }

    /// Whether nothing was replaced.
    var isUnchanged: Bool { position == 0 && bytes.isEmpty }

    /// The whole copy.
    var all: [UInt8] { prefix(before: source.count) }

    /// The copy of the source before a position.
    func prefix(before end: Int) -> [UInt8] { bytes + source[position..<end] }

    /// The size of the copy of the source before a position.
    func count(before end: Int) -> Int { bytes.count + end - position }

    mutating func replace(_ range: Range<Int>, with replacement: some Collection<UInt8>) {
        if bytes.isEmpty { bytes.reserveCapacity(source.count + 64) }
        bytes.append(contentsOf: source[position..<range.lowerBound])
        bytes.append(contentsOf: replacement)
        position = range.upperBound
    }
}

extension String {
    /// The text with the characters escaped that would end an item of a form, or that a URL must escape.
    var escapedInForm: String {
        let escaped = addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~<>")))
        return escaped ?? SecretFields.placeholder
    }
}

extension UInt8 {
    /// Whether the byte can precede a secret within a value, so that the value must be examined: `=`, `:`, `<`, a
    /// quotation mark, the space after an authentication scheme, or the `.` of a JSON Web Token.
    fileprivate var startsSecret: Bool {
        switch self {
        case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "<"), UInt8(ascii: "\""), 0x20, UInt8(ascii: "."): true
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first position of a byte from a start and before an end; by default, before the end of the buffer.
    fileprivate func position(of byte: UInt8, from start: Int = 0, before end: Int? = nil) -> Int? {
        let count = (end ?? count) - start
        guard count > 0, let base = baseAddress, let found = memchr(base + start, Int32(byte), count) else {
            return nil
        }
        return UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
    }

    /// Whether a JSON Web Token may start before an end: whether it holds `eyJ`. `J` is rare.
    fileprivate func holdsToken(before end: Int) -> Bool {
        var start = 2
        while let found = position(of: UInt8(ascii: "J"), from: start, before: end) {
            if self[found - 1] == UInt8(ascii: "y"), self[found - 2] == UInt8(ascii: "e") { return true }
            start = found + 1
        }
        return false
    }
}
