// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The cache key (RFC 9111 §2): the URL and the user. The method is always GET.
struct CacheKey: Sendable, Hashable {
    /// The URL without its fragment.
    let url: String
    /// A digest that identifies the user; `nil` for a request without credentials.
    let user: String?

    init(url: URL, user: String?) {
        self.init(url: Self.text(of: url), user: user)
    }

    init(url: String, user: String?) {
        self.url = url
        self.user = user
    }

    /// The text of a URL without its fragment and user, because these aren't sent. Equivalent URLs have equal texts
    /// (RFC 9110 §4.2.3).
    static func text(of url: URL) -> String {
        let text = url.absoluteString
        return isNormal(text.utf8) ? text : normalized(url) ?? text
    }

    /// Whether a URL has a path, no fragment, no user, no port that can be the default, and no uppercase letter before
    /// its path.
    private static func isNormal(_ text: String.UTF8View) -> Bool {
        var slashCount = 0
        var port = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "#"): return false
            case _ where slashCount == 3: break
            case UInt8(ascii: "/"):
                slashCount += 1
                if slashCount == 3, port == 80 || port == 443 { return false }
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "?"), UInt8(ascii: "@"): return false
            case UInt8(ascii: "0")...UInt8(ascii: "9"): port = (port * 10 + Int(byte & 0x0F)) % 100_000
            default: port = 0
            }
        }
        return slashCount == 3
    }

    private static func normalized(_ url: URL) -> String? {
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        let (scheme, host) = (components.scheme?.lowercased(), components.encodedHost?.lowercased())
        (components.scheme, components.encodedHost) = (scheme, host)
        // These components aren't sent.
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        if components.port == ["http": 80, "https": 443][scheme] { components.port = nil }
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string
    }
}

/// The secret salt of a cache's digests, which prevents dictionary attacks.
struct CacheSalt: Sendable {
    static let size = 32
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func random() -> CacheSalt {
        var random = SystemRandomNumberGenerator()
        return CacheSalt((0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    /// The digest of a list of texts, as 64 hexadecimal digits. The digest depends on where each text ends.
    func digest(of texts: [String]) -> String {
        var hasher = SHA256Hasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        for text in texts {
            withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { hasher.update($0) }
            var text = text
            text.withUTF8 { hasher.update(UnsafeRawBufferPointer($0)) }
        }
        return hasher.finalize().hexadecimal
    }
}

/// The request fields that select a response (RFC 9111 §4.1).
struct CacheVariant: Sendable, Hashable {
    /// The sorted lowercase names in the response's `Vary`.
    let names: [String]
    /// The digest of the request's values; `nil` if it has none of the fields.
    let digest: String?

    /// The variant of a response without `Vary`.
    static let only = CacheVariant(names: [], digest: nil)

    /// The variant that a request selects with these names.
    init(names: [String], of fields: [String: String], _ salt: CacheSalt) {
        self.names = names
        digest = Self.digest(names, fields: fields, salt: salt)
    }

    init(names: [String], digest: String?) {
        self.names = names
        self.digest = digest
    }

    /// Whether a request selects this variant.
    func matches(_ fields: [String: String], salt: CacheSalt) -> Bool {
        names.isEmpty || Self.digest(names, fields: fields, salt: salt) == digest
    }

    private static func digest(_ names: [String], fields: [String: String], salt: CacheSalt) -> String? {
        var texts: [String] = []
        for name in names {
            guard let value = fields.first(where: { $0.key.equalsIgnoringASCIICase(name) })?.value else { continue }
            texts += [name, normalized(value)]
        }
        return texts.isEmpty ? nil : salt.digest(of: texts)
    }

    /// A value without optional whitespace around its commas, except inside quotes (RFC 9110 §5.6.4).
    private static func normalized(_ value: String) -> String {
        value.elements(separatedBy: ",").joined(separator: ",")
    }

    /// The names in `Vary`; `nil` for `*`, which no request matches, and for invalid names.
    static func names(in headers: HTTPHeaders) -> [String]? {
        var names: Set<String> = []
        for value in headers.values(for: "Vary") {
            for name in value.listElements {
                if name == "*" || name.utf8.contains(UInt8(ascii: "\"")) { return nil }
                names.insert(name.lowercased())
            }
        }
        return names.sorted()
    }
}
