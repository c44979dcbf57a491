// SPDX-License-Identifier: MIT
import TargetKit

/// Copies text, redacting the values of secret fields.
///
/// It reads byte by byte and doesn't require valid syntax, so it also redacts incomplete JSON and mixed formats. It
/// recognizes JSON (RFC 8259) at any depth, in strings, and in server-sent events; elements and attributes of XML and
/// HTML; `name=value`; `name: value`, with indented lines of YAML; the user of a URL; private keys (RFC 7468); and
/// credentials such as `Bearer …`. Other text is copied unchanged.
package struct TextRedactor {
    /// An open object or array.
    struct Level {
        let isArray: Bool
        /// Whether the current key is among the names.
        var hasName = false
        /// Whether a member such as `"name": "token"` makes the member `value` secret.
        var isValueSecret = false
    }

    /// Nested strings are read to this depth. Deeper ones are redacted completely.
    static let depthLimit = 4
    static let placeholder = Array(SecretFields.placeholder.utf8)

    let bytes: [UInt8]
    let redaction: Redaction
    let depth: Int
    private let limit: Int
    /// Whether `code` is an authorization code, as in a token request (RFC 6749 §4.1.3) in JSON.
    let isOAuth: Bool
    var index = 0
    private(set) var copy: [UInt8] = []
    /// The keys that lead to this position. An array has none.
    var names: [String] = []
    var levels: [Level] = []
    /// The name of the value in the next XML element, as in a property list.
    var nextElementName: String?

    private init(_ bytes: [UInt8], redaction: Redaction, limit: Int, depth: Int) {
        self.bytes = bytes
        self.redaction = redaction
        self.limit = limit
        self.depth = depth
        isOAuth = ["grant_type", "grantType", "code_verifier", "redirect_uri"].contains { bytes.contains($0) }
    }

    /// The redacted copy, and whether it was truncated at the limit.
    package static func redacted(_ data: Data, by redaction: Redaction, limit: Int) -> (bytes: [UInt8], isCut: Bool) {
        // A secret is shorter in the copy, so more than the limit is read.
        let window = Array(data.prefix(limit < Int.max / 4 ? limit * 2 + (64 << 10) : .max))
        var redactor = TextRedactor(window, redaction: redaction, limit: limit, depth: 0)
        redactor.run()
        let isCut = redactor.copy.count > limit || redactor.index < data.count
        return (Array(redactor.copy.prefix(limit)), isCut)
    }

    /// The text with its secrets redacted.
    package static func redacted(_ text: some StringProtocol, by redaction: Redaction, depth: Int = 0) -> String {
        var redactor = TextRedactor(Array(text.utf8), redaction: redaction, limit: .max, depth: depth)
        redactor.run()
        return String(decoding: redactor.copy, as: UTF8.self)
    }

    private mutating func run() {
        while index < bytes.count, copy.count <= limit {
            switch bytes[index] {
            case UInt8(ascii: "\""): copyString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                levels.append(Level(isArray: bytes[index] == UInt8(ascii: "[")))
                copyByte()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if levels.popLast()?.hasName == true { names.removeLast() }
                copyByte()
            case UInt8(ascii: "<"): copyMarkup()
            case UInt8(ascii: ":"): copyColon()
            case let byte where byte.isPartOfFieldName: copyWord()
            default: copyByte()
            }
        }
    }

    mutating func copyByte() {
        copy.append(bytes[index])
        index += 1
    }

    /// Copies the bytes up to an index.
    mutating func copyBytes(to end: Int) {
        append(bytes[index..<end])
        index = end
    }

    mutating func append(_ part: some Collection<UInt8>) {
        // One byte over the limit indicates that the text was truncated.
        copy.append(contentsOf: part.prefix(max(0, min(limit, .max - 1) - copy.count) + 1))
    }
}

// MARK: - Names and values

extension TextRedactor {
    /// Copies a word. If it is the name of a secret, redacts its value: `token=…`, `'token': '…'`, `token: …`.
    private mutating func copyWord() {
        let start = index
        if bytes[start] == UInt8(ascii: "-"), let key = privateKey(at: start) {
            copyBytes(to: key.lowerBound)
            index = key.upperBound
            return append(Self.placeholder)
        }
        let end = endOfName(at: start)
        if isJWT(start..<end) {
            index = end
            return append(Self.placeholder)
        }
        if let credentials = credentials(after: start..<end) {
            copyBytes(to: credentials.lowerBound)
            index = credentials.upperBound
            return append(Self.placeholder)
        }
        guard let (separator, value) = separator(after: end), value < bytes.count,
            isSecretName(start..<end, separator: separator) || isToken(at: value, named: start..<end)
        else { return copyPlainWord(to: end) }
        copyBytes(to: value)
        if bytes[value] == UInt8(ascii: "\"") || bytes[value] == UInt8(ascii: "'") {
            append([bytes[value]] + Self.placeholder + [bytes[value]])
            index = endOfString(at: value)
        } else {
            index = endOfPlainValue(at: value, after: separator)
            let block = separator == UInt8(ascii: ":") ? endOfBlock(from: index, valueAt: value, nameAt: start) : nil
            if block != nil, index == value, bytes[value - 1] != 0x20 { append([0x20]) }
            index = block ?? index
            if index > value { append(Self.placeholder) }
        }
    }

    /// Copies a word that isn't a secret or its name, and redacts secrets in escaped text, such as a URL in another
    /// URL's query.
    private mutating func copyPlainWord(to end: Int) {
        let word = bytes[index..<end]
        if redaction.hidesPersonalData {
            let before = index > 0 && bytes[index - 1] == UInt8(ascii: "+") ? index - 1 : index
            let shown = PersonalData.redacted(bytes[before..<end]).dropFirst(index - before)
            if !shown.elementsEqual(word) {
                // A number in JSON becomes a string.
                let isNumber = !levels.isEmpty && before == index && shown.elementsEqual(Self.placeholder)
                index = end
                return append(isNumber ? Array("\"".utf8) + shown + Array("\"".utf8) : Array(shown))
            }
        }
        guard word.count > 7, word.contains(UInt8(ascii: "%")), !redaction.isNone else { return copyBytes(to: end) }
        let escaped = String(decoding: word, as: UTF8.self)
        guard let text = escaped.removingPercentEncoding, text != escaped else { return copyBytes(to: end) }
        append(text, of: index..<end) { Array($0.escapedInForm.utf8) }
        index = end
    }

    /// Appends text that is a separate value: its unchanged bytes or, if it contains secrets, its redacted form.
    mutating func append(_ text: some StringProtocol, of range: Range<Int>, _ written: (String) -> [UInt8]) {
        guard depth < Self.depthLimit else {
            let hasNames = text.utf8.contains(where: "=:%".utf8.contains)
            return append(hasNames ? written(SecretFields.placeholder) : Array(bytes[range]))
        }
        let shown = Self.redacted(text, by: redaction, depth: depth + 1)
        append(shown == text ? Array(bytes[range]) : written(shown))
    }

    private func isSecretName(_ range: Range<Int>, separator: UInt8) -> Bool {
        var name = String(decoding: bytes[range], as: UTF8.self)
        if name.utf8.contains(UInt8(ascii: "%")) { name = name.removingPercentEncoding ?? name }
        // Matches `code=` in a query; elsewhere, it can be any code.
        let before = range.lowerBound == 0 ? UInt8(ascii: "?") : bytes[range.lowerBound - 1]
        let isField = separator == UInt8(ascii: "=") && "?&#".utf8.contains(before)
        let isParameter = isField || name.utf8.contains(UInt8(ascii: "["))
        return isParameter ? redaction.isSecret(parameter: name) : redaction.isSecret(name: name)
    }

    private func isToken(at value: Int, named range: Range<Int>) -> Bool {
        let name = String(decoding: bytes[range], as: UTF8.self)
        guard Redaction.namesToken(name) else { return false }
        let isQuoted = bytes[value] == UInt8(ascii: "\"") || bytes[value] == UInt8(ascii: "'")
        let start = isQuoted ? value + 1 : value
        let end = bytes[start...].firstIndex { !$0.isPartOfToken68 && $0 != UInt8(ascii: "%") } ?? bytes.count
        if let next = byte(at: end), !" \t\r\n,;&#\"'<}".utf8.contains(next) { return false }
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        return redaction.isToken((text.removingPercentEncoding ?? text).utf8, named: name)
    }

    /// The `=` or `:` after a name, and the start of its value.
    private func separator(after end: Int) -> (separator: UInt8, value: Int)? {
        let quote = byte(at: end) == UInt8(ascii: "'") ? end + 1 : end
        let place = skippingBlanks(from: quote)
        guard let separator = byte(at: place) else { return nil }
        guard separator == UInt8(ascii: "=") || separator == UInt8(ascii: ":") else { return nil }
        // Matches `=>`, but not `://`.
        let next = byte(at: place + 1)
        if next == UInt8(ascii: "/"), byte(at: place + 2) == next { return nil }
        return (separator, skippingBlanks(from: next == UInt8(ascii: ">") ? place + 2 : place + 1))
    }

    /// The value of `name=` ends at white space or a value separator, the value of `name:` at the end of the line.
    private func endOfPlainValue(at start: Int, after separator: UInt8) -> Int {
        let ends = separator == UInt8(ascii: ":") ? Self.endsOfLine : Self.endsOfParameter
        return bytes[start...].firstIndex(where: ends.contains) ?? bytes.count
    }

    private static let endsOfLine = Array("\r\n}<".utf8)
    private static let endsOfParameter = Array(" \t\r\n&#\"'<>".utf8)

    private func endOfName(at start: Int) -> Int {
        var index = start
        while let byte = byte(at: index) {
            if byte.isPartOfFieldName {
                index += 1
            } else if byte == UInt8(ascii: "["),
                let end = bytes[(index + 1)...].firstIndex(where: { !$0.isPartOfFieldName }),
                bytes[end] == UInt8(ascii: "]")
            {
                // For example, `user[password]`.
                index = end + 1
            } else {
                break
            }
        }
        return index
    }

    private func isJWT(_ word: Range<Int>) -> Bool {
        !redaction.isNone && SecretFields.isJWT(bytes[word])
    }

    /// The credentials after the name of an authentication scheme (RFC 9110 §11.4), unless they look like an ordinary
    /// word.
    private func credentials(after word: Range<Int>) -> Range<Int>? {
        guard (5...9).contains(word.count), !redaction.isNone, let blank = byte(at: word.upperBound),
            blank == 0x20 || blank == 0x09
        else { return nil }
        let scheme = String(decoding: bytes[word], as: UTF8.self).lowercased()
        guard ["basic", "bearer", "negotiate"].contains(scheme) else { return nil }
        let start = skippingBlanks(from: word.upperBound)
        let end = bytes[start...].firstIndex { !$0.isPartOfToken68 } ?? bytes.count
        let token = bytes[start..<end]
        let isWord = token.dropFirst().allSatisfy { (0x61...0x7A).contains($0) }
        guard token.count >= 4, !isWord, byte(at: end) != UInt8(ascii: "\"") else { return nil }
        return start..<end
    }

    /// Copies a colon and, if it starts the authority of a URL, redacts the user (RFC 3986 §3.2.1).
    private mutating func copyColon() {
        copyByte()
        guard byte(at: index) == UInt8(ascii: "/"), byte(at: index + 1) == UInt8(ascii: "/"), !redaction.isNone else {
            return
        }
        copyBytes(to: index + 2)
        let end = bytes[index...].firstIndex { Self.endsOfAuthority.contains($0) } ?? bytes.count
        guard let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        append(Self.placeholder)
        index = at
    }

    private static let endsOfAuthority = Array("/?# \t\r\n\"'<>\\".utf8)
}

// MARK: - Reading

extension TextRedactor {
    func byte(at index: Int) -> UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    /// The end of a string that starts with a quotation mark or an apostrophe.
    func endOfString(at start: Int) -> Int {
        var index = start + 1
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case bytes[start]: return index + 1
            default: index += 1
            }
        }
        return bytes.count
    }

    /// The end of white space, including the field name of a server-sent event's next data line.
    func skippingSpace(from start: Int) -> Int {
        var index = start
        while let byte = byte(at: index), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            index += 1
            if byte == 0x0A, self.byte(at: index) == UInt8(ascii: "d"), bytes[index...].starts(with: Self.eventData) {
                index += Self.eventData.count
            }
        }
        return min(index, bytes.count)
    }

    private static let eventData = Array("data:".utf8)

    func skippingBlanks(from start: Int) -> Int {
        var index = start
        while let byte = byte(at: index), byte == 0x20 || byte == 0x09 { index += 1 }
        return min(index, bytes.count)
    }
}

extension [UInt8] {
    /// Whether these bytes contain the text.
    fileprivate func contains(_ text: String) -> Bool {
        let text = Array(text.utf8)
        return indices.dropLast(text.count - 1).contains { self[$0] == text[0] && self[$0...].starts(with: text) }
    }
}

extension UInt8 {
    /// Whether the byte can be part of a name in a query, a header field or prose.
    var isPartOfFieldName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "%"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    /// Whether the byte can be part of a `token68` (RFC 9110 §11.2).
    var isPartOfToken68: Bool {
        (isPartOfFieldName && self < 0x80 && self != UInt8(ascii: "%") && self != UInt8(ascii: "$"))
            || "~+/=".utf8.contains(self)
    }
}
