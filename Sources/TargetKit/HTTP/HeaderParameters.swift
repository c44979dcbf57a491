// SPDX-License-Identifier: MIT

/// The parameters of a header field (RFC 9110 §5.6.6).
package struct HeaderParameters {
    package struct Parameter {
        /// The name in lowercase.
        package let name: String
        /// The value without quotation marks and escapes.
        package let value: String
        /// The range of the value in the field, without quotation marks.
        package let range: Range<String.Index>
    }

    package private(set) var parameters: [Parameter] = []

    package init(_ field: String) {
        var rest = field.drop { $0 != ";" }
        while !rest.isEmpty {
            rest = rest.dropFirst()
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop(while: \.isWhitespace)
            let isQuoted = rest.first == "\""
            if isQuoted { rest = rest.dropFirst() }
            let start = rest.startIndex
            var value = ""
            while let character = rest.first, character != (isQuoted ? "\"" : ";") {
                rest = rest.dropFirst()
                value.append(isQuoted && character == "\\" ? rest.popFirst() ?? character : character)
            }
            let range = start..<rest.startIndex
            rest = rest.drop { $0 != ";" }
            let key = name.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
            let text = isQuoted ? value : value.trimmingCharacters(in: .whitespacesAndNewlines)
            parameters.append(Parameter(name: key, value: text, range: range))
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
    private static func decoded(_ value: String) -> String {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        let text = parts.count == 3 ? String(parts[2]) : value
        return text.removingPercentEncoding ?? text
    }

    /// The type of a `Content-Type` field without its parameters, in lowercase.
    package static func mediaType(_ contentType: String) -> String {
        contentType.prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces)
    }
}
