// SPDX-License-Identifier: MIT

/// Recognizes what can be secret.
package enum SecretFields {
    /// The text that replaces a secret.
    package static let placeholder = "<redacted>"

    /// Whether the text is a JSON Web Token (RFC 7519), which starts with the Base64 of `{"`.
    package static func isJWT(_ text: some Collection<UInt8>) -> Bool {
        text.count >= 20 && text.starts(with: "eyJ".utf8) && text.contains(UInt8(ascii: "."))
    }

    /// Whether a field with this name can contain a secret: true of each name that is secret for a log (`Redaction`),
    /// and of harmless names with the same words, such as `public_key` and `max_tokens`.
    package static func canBeSecret(_ name: some StringProtocol) -> Bool {
        let words = words(of: name)
        func holds(_ parts: [StaticString]) -> Bool { parts.contains { words.containsBytes(of: $0) } }
        return holds(secretParts) || holds(firstParts) && holds(secondParts)
    }

    /// Parts of the words of a name, of which one is enough. A space is the start or the end of a word.
    private static let secretParts: [StaticString] = [
        "token", "secret", "key ", "keys ", "keyid", "pass ", "passw", "wd ", "pw ", "phrase", "sess", " sid ",
        "cookie", "auth ", "authentication", "authorization", "bearer", "credential", "cred ", "creds ", "sign ",
        "signature", "signed", " sig ", "mac ", "assertion", "verifier", "jwt", "jws", "srf", "captcha", "cvc", "cvv",
        "otp ", " pin ", "vcode", "ticket ", "psk ", "dsn ", "encrypted", "mnemonic", "mima", "saml", "turnstile",
        "wresult", "xprv", "yzm", "jct ", " ak ", " pan ", " pat ", " sk ", " tk ", "密码", "密碼", "口令",
        "验证码", "驗證碼",
    ]
    /// The first and the second parts of names such as `one_time_code`, `magicLink`, `connection_string` and `cardNo`.
    private static let firstParts: [StaticString] = [
        "access", "activation", "auth", "backup", "card", "check", "confirmation", "connection", "device", "dynamic",
        "email", "fa", "graph", "im", "js", "login", "magic", "otp", "pan", "pass", "pic", "pin", "recovery", "reset",
        "sec", "sign", "sms", "user", "valid", "verif", "wx",
    ]
    private static let secondParts: [StaticString] = [
        "code ", "codes ", "link ", "links ", "number", "no ", "answer", "string",
    ]

    /// The words in lowercase, each between spaces: those of `APIKey` and `api-key` are ` api key `.
    private static func words(of name: some StringProtocol) -> String {
        let bytes = Array(name.utf8)
        var words: [UInt8] = [0x20]
        for (index, byte) in bytes.enumerated() {
            // As in `accessToken` and, before the last capital of a run, `APIKey`.
            if byte.isUppercase, index > 0,
                bytes[index - 1].isLowercase || index + 1 < bytes.count && bytes[index + 1].isLowercase
            {
                words.append(0x20)
            }
            words.append(byte.isPartOfWord ? byte.asciiLowercased : 0x20)
        }
        return String(decoding: words + [0x20], as: UTF8.self)
    }
}

extension UInt8 {
    package var isUppercase: Bool { (0x41...0x5A).contains(self) }
    package var isLowercase: Bool { (0x61...0x7A).contains(self) }
    /// A letter, or a byte of a character outside ASCII.
    package var isPartOfWord: Bool { isUppercase || isLowercase || self >= 0x80 }
}
