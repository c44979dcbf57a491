// SPDX-License-Identifier: MIT
import TargetKit

/// The credentials that a response contains, for example that of a sign-in, or that a URL contains.
enum Credentials {
    /// The maximum size of a body that is searched, in bytes.
    private static let limit = 1 << 20

    /// The ends of the normalized names of credentials.
    private static let endings = ["token", "jwt", "sessionid", "sessid", "sessionkey", "password"]

    /// Words in the names of values that aren't the user's.
    private static let otherWords = ["csrf", "xsrf", "captcha", "device", "push", "next", "sync"]

    /// Whether a response must not be stored, because it contains credentials and the server doesn't explicitly allow
    /// it: with any caching field for a known user, or else with `public`.
    static func prohibitStoring(_ headers: HTTPHeaders, _ body: Data, _ key: CacheKey) -> Bool {
        let control = CacheControl(headers)
        if control.contains("public") { return false }
        if key.user != nil, control.contains("private") || control.contains("max-age") || headers.contains("Expires") {
            return false
        }
        return headers.fields.contains { isName($0.name.rawValue) || $0.name == .authorization }
            || areContained(in: body, type: headers[.contentType]?.mediaType)
    }

    /// The query items with credentials that identify the user, and other secret ones, for example signatures.
    static func items(of url: URL?) -> (identifying: [String: String], others: [String: String]) {
        guard let url, url.query() != nil,
            let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
        else { return ([:], [:]) }
        let secret = items.filter { SecretFields.isSecret($0.name) }.map { ($0.name, $0.value ?? "") }
        let all = Dictionary(secret) { $0 + "," + $1 }
        return (all.filter { isName($0.key) }, all.filter { !isName($0.key) })
    }

    private static func isName(_ name: some StringProtocol) -> Bool {
        guard SecretFields.isSecret(name) else { return false }
        let text = SecretFields.normalized(name)
        return endings.contains(where: text.hasSuffix) && !otherWords.contains(where: text.contains)
    }

    private static func areContained(in body: Data, type: String?) -> Bool {
        if body.isEmpty || body.count > limit { return false }
        if type == "application/x-www-form-urlencoded" {
            return String(decoding: body, as: UTF8.self).split(separator: "&").contains { item in
                let parts = item.split(separator: "=", maxSplits: 1)
                return parts.count == 2 && isName(parts[0])
            }
        }
        return body.withUnsafeBytes { bytes in
            var reader = MemberReader(bytes: bytes)
            return reader.containsMember(where: isName)
        }
    }
}

/// Reads the names of the members of a JSON text that have a value.
private struct MemberReader {
    let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether a member whose value is a nonempty text, object or array has such a name.
    mutating func containsMember(where isMatch: (String) -> Bool) -> Bool {
        skipSpace()
        guard let first = byte, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
        while let byte {
            guard byte == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let name = string()
            skipSpace()
            guard self.byte == UInt8(ascii: ":") else { continue }
            index += 1
            skipSpace()
            if hasValue, isMatch(String(decoding: name, as: UTF8.self)) { return true }
        }
        return false
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var hasValue: Bool {
        let end: UInt8
        switch byte {
        case UInt8(ascii: "\""): end = UInt8(ascii: "\"")
        case UInt8(ascii: "{"): end = UInt8(ascii: "}")
        case UInt8(ascii: "["): end = UInt8(ascii: "]")
        default: return false
        }
        return bytes[(index + 1)...].first { $0 > 0x20 } != end
    }

    private mutating func skipSpace() {
        while let byte, byte <= 0x20 { index += 1 }
    }

    /// Reads a string, and returns its bytes, in which escapes aren't decoded.
    private mutating func string() -> Slice<UnsafeRawBufferPointer> {
        index += 1
        let start = index
        while let byte, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
        let end = min(index, bytes.count)
        index = end + 1
        return bytes[start..<end]
    }
}
