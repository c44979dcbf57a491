// SPDX-License-Identifier: MIT

/// The `Set-Cookie` fields of a response that Foundation has joined by commas, taken apart again.
///
/// A comma within a field is one of a date (`Expires=Wed, 09 Jun …`) or of a value; one between two fields is followed by
/// a name and `=` (RFC 6265 §4.1.1), which neither is.
struct JoinedSetCookie {
    let fields: [String]

    init(_ joined: String) {
        var fields: [Substring] = []
        var start = joined.startIndex
        for comma in joined.indices where joined[comma] == "," {
            let rest = joined[joined.index(after: comma)...].drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " && $0 != "\"" }
            guard !name.isEmpty, rest[name.endIndex...].first == "=" else { continue }
            fields.append(joined[start..<comma])
            start = rest.startIndex
        }
        fields.append(joined[start...])
        self.fields = fields.map { $0.trimmingSpaces }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
