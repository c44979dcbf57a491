// SPDX-License-Identifier: MIT

/// The parameters of a header field (RFC 9110 §5.6.6).
package struct HeaderParameters {
    package struct Parameter {
        /// The name in lowercase.
        package let name: String
        /// The value without quotation marks and escapes.
        package let value: String
        package let isQuoted: Bool
        /// The range of the value in the field, without quotation marks.
        package let range: Range<String.Index>
    }

    package private(set) var parameters: [Parameter] = []

    /// Whether the field is a token with parameters, in which some servers send unquoted text as a value, and empty
    /// parameters. Otherwise, ``parameters`` are what a tolerant receiver reads.
    package private(set) var isValid = true

    /// - Parameter escaped: The characters before which a backslash in a quoted string isn't part of the value; default
    ///   `nil`: all.
    @inline(never)
    package init(_ field: String, escaped: String? = nil) {
        var parser = FieldParser(field)
        isValid = String(parser.text(before: ";").trimmingSpaces).isToken
        while parser.skip(";") {
            let name = parser.text(before: "=;").trimmingCharacters(in: .whitespacesAndNewlines)
            guard parser.skip("=") else {
                if !name.isEmpty { isValid = false }
                continue
            }
            _ = parser.text { $0.isSpaceOrTab || $0 == 0x0D || $0 == 0x0A }
            let start = parser.index
            let quoted = parser.quotedString(escaped: escaped)
            let rest = parser.text(before: ";")
            let value = quoted?.text ?? rest.trimmingCharacters(in: .whitespacesAndNewlines)
            let isRead = quoted.map { $0.isClosed && rest.utf8.allSatisfy(\.isSpaceOrTab) }
            isValid = isValid && name.isToken && (isRead ?? !(value.isEmpty || value.utf8.contains(UInt8(ascii: "\""))))
            parameters.append(
                Parameter(
                    name: name.lowercased(),
                    value: value,
                    isQuoted: quoted != nil,
                    range: quoted?.range ?? start..<parser.index
                )
            )
        }
    }

    /// The values of a parameter: unchanged, without percent escapes, in the extended form `name*` (RFC 8187), and in
    /// several parts, `name*0` and `name*1` (RFC 2231).
    package func values(of name: String) -> [String] {
        let plain = parameters.filter { $0.name == name }.map(\.value)
        let extended = parameters.filter { $0.name == name + "*" }.map { Self.decoded($0.value) }
        let continued = parameters.filter { $0.name.hasPrefix(name + "*") && $0.name.count > name.count + 1 }
            .map { $0.name.hasSuffix("*") ? Self.decoded($0.value) : $0.value }.joined()
        let values = plain + plain.compactMap(\.removingPercentEncoding) + extended + [continued]
        var seen: Set<String> = [""]
        return values.filter { seen.insert($0).inserted }
    }

    /// The text of an extended value, for example `UTF-8'en'a%20b`.
    @inline(never)
    private static func decoded(_ value: String) -> String {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        let text = parts.count == 3 ? String(parts[2]) : value
        return text.removingPercentEncoding ?? text
    }
}
