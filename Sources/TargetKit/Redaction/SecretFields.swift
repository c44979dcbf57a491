// SPDX-License-Identifier: MIT

/// The rule by which the names of header fields, query items, and fields of bodies are recognized as names of secrets.
///
/// A name is split into words at `-`, `_`, other punctuation, digits, and changes of letter case: `X-Session-Key`,
/// `sessionKey` and `SESSION_KEY` are the same words. The words decide, not parts of them, so `monkey`, `author` and
/// `tokenizer` are not secret. In names written without separators, such as `accesstoken`, the end of a word counts.
package enum SecretFields {
    /// Whether a field with this name usually contains a secret.
    package static func isSecret(_ name: some StringProtocol) -> Bool {
        ContiguousText.read(name) { isSecret(utf8: $0) }
    }

    /// Whether a field with this name, in UTF-8, usually contains a secret.
    package static func isSecret(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        var words = Words()
        words.read(name)
        return words.areSecret
    }

    /// Whether a query item or form field with this name usually contains a secret. `code` is one: OAuth's authorization
    /// code (RFC 6749 §4.1.2), or one that was sent to a person. In JSON the name is common for other values.
    package static func isSecretParameter(_ name: some StringProtocol) -> Bool {
        ContiguousText.read(name) { isSecretParameter(utf8: $0) }
    }

    /// Whether a query item or form field with this name, in UTF-8, usually contains a secret.
    package static func isSecretParameter(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        let isCode = name.count == 4 && name.lazy.map(\.asciiLowercased).elementsEqual("code".utf8)
        return isCode || isSecret(utf8: name)
    }

    /// Whether the name is `code`.
    package static func isCode(_ name: some StringProtocol) -> Bool {
        name.equalsIgnoringASCIICase("code")
    }

    /// The name for comparison: in lowercase, without `-` and `_`.
    package static func normalized(_ name: some StringProtocol) -> String {
        String(unsafeUninitializedCapacity: name.utf8.count) { text in
            var count = 0
            for byte in name.utf8 where byte != UInt8(ascii: "_") && byte != UInt8(ascii: "-") {
                text.initializeElement(at: count, to: byte.asciiLowercased)
                count += 1
            }
            return count
        }
    }

    /// The escaped query, with the values of secret items redacted.
    package static func redacted(query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let name = item.prefix { $0 != "=" }
            guard name.endIndex != item.endIndex, isSecretParameter(PercentEncoding.decode(String(name))) else {
                return String(item)
            }
            return name + "=" + HeaderRedaction.placeholder
        }.joined(separator: "&")
    }

    /// The path, with the values of secret path parameters redacted: `/a;jsessionid=1` (RFC 3986 §3.3).
    package static func redacted(path: String) -> String {
        let parts = path.split(separator: ";", omittingEmptySubsequences: false)
        return parts.enumerated().map { index, part in
            guard index > 0, let end = part.firstIndex(of: "="), isSecret(part[..<end]) else { return String(part) }
            return part[...end] + HeaderRedaction.placeholder + part[end...].drop { $0 != "/" && $0 != "?" }
        }.joined(separator: ";")
    }
}

// MARK: - The words of a name

/// The words of one name, in order. Only the last is kept; a word of up to 15 bytes needs no memory of its own.
private struct Words {
    private var count = 0
    private var last = ""
    private var lastMeanings: Meanings = []
    private var hasSecret = false
    /// Whether the last word itself is the secret one.
    private var isLastSecret = false
    /// Whether the last word is one that is a secret unless another word follows.
    private var isLastAmbiguous = false
    private var isStatement = false

    /// Whether the words name a secret.
    var areSecret: Bool {
        if isStatement { return false }
        return isLastSecret || isLastAmbiguous || (hasSecret && !lastMeanings.contains(.description))
    }

    mutating func read(_ name: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for index in name.indices {
            let byte = name[index]
            if !byte.isPartOfWord {
                add(name[start..<index])
                start = index + 1
            } else if byte.isUppercase, index > start {
                // `accessToken` and, before the last letter of capitals, `APIKey`.
                let endsCapitals = index + 1 < name.count && name[index + 1].isLowercase
                if name[index - 1].isLowercase || endsCapitals {
                    add(name[start..<index])
                    start = index
                }
            }
        }
        add(name[start...])
    }

    private mutating func add(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard !bytes.isEmpty else { return }
        let word = String(unsafeUninitializedCapacity: bytes.count) { text in
            for (index, byte) in bytes.enumerated() { text.initializeElement(at: index, to: byte.asciiLowercased) }
            return bytes.count
        }
        let meanings = Meanings.ofWords[word] ?? []
        if count == 0 { isStatement = meanings.contains(.statement) }
        if isLastAmbiguous, meanings.contains(.follower) { hasSecret = true }
        isLastSecret = isSecret(word, meanings)
        isLastAmbiguous = meanings.contains(.ambiguous) && !lastMeanings.contains(.harmlessOwner)
        if isLastSecret || (isLastAmbiguous && lastMeanings.contains(.owner)) { hasSecret = true }
        last = word
        lastMeanings = meanings
        count += 1
    }

    private func isSecret(_ word: String, _ meanings: Meanings) -> Bool {
        if meanings.contains(.plural) { return lastMeanings.isDisjoint(with: [.quantity, .harmlessOwner]) }
        if meanings.contains(.secret) { return !(word == "token" && lastMeanings.contains(.harmlessOwner)) }
        if meanings.contains(.secondWord), Self.pairs.contains(last + word) { return true }
        return meanings.isEmpty && word.utf8.count > 5 && Self.endings.contains(where: word.hasSuffix)
    }

    /// Two words that are secret together.
    private static let pairs: Set<String> = [
        "accesscode", "backupcode", "backupcodes", "cardnumber", "devicecode", "passcode", "passphrase", "password",
        "pincode", "recoverycode", "recoverycodes", "securitycode", "smscode", "usercode", "verificationcode",
    ]

    /// The ends of words written without separators. Most are not parts of English words.
    private static let endings = [
        "token", "secret", "password", "passwd", "passphrase", "signature", "credential", "credentials", "sessionid",
        "sessid", "apikey", "accesskey", "appkey", "authkey", "clientkey", "consumerkey", "encryptionkey",
        "masterkey", "privatekey", "secretkey", "sessionkey", "sharedkey", "signingkey", "subscriptionkey",
        "authorization", "cardnumber",
    ]
}

/// What a word says about the name that it is part of.
private struct Meanings: OptionSet {
    let rawValue: Int

    /// Secret wherever it is in a name.
    static let secret = Meanings(rawValue: 1 << 0)
    /// Secret unless it is counted: `max_tokens`.
    static let plural = Meanings(rawValue: 1 << 1)
    /// Counts the word after it.
    static let quantity = Meanings(rawValue: 1 << 2)
    /// Secret as the last word, or after an owner, or before a follower: `key`, but not `key_path`.
    static let ambiguous = Meanings(rawValue: 1 << 3)
    /// Makes an ambiguous word after it secret wherever it is: `private_key_path`.
    static let owner = Meanings(rawValue: 1 << 4)
    /// Makes an ambiguous word before it secret: `key_id`.
    static let follower = Meanings(rawValue: 1 << 5)
    /// Makes the word after it harmless: `publicKey`, `Idempotency-Key`, `pageToken`.
    static let harmlessOwner = Meanings(rawValue: 1 << 6)
    /// Can be the second of two words that are secret together: `deviceCode`.
    static let secondWord = Meanings(rawValue: 1 << 7)
    /// As the first word, begins a question or an amount, whose answer is not the secret: `hasPassword`.
    static let statement = Meanings(rawValue: 1 << 8)
    /// As the last word, names a property of a secret: `token_type`.
    static let description = Meanings(rawValue: 1 << 9)

    /// All words with a meaning, in lowercase.
    static let ofWords: [String: Meanings] = {
        var meanings: [String: Meanings] = [:]
        for (words, meaning) in texts {
            for word in words.split(separator: " ") { meanings[String(word), default: []].insert(meaning) }
        }
        return meanings
    }()

    private static let texts: [(String, Meanings)] = [
        (
            """
            assertion auth authcode authentication authorization bearer cardnumber cred credential credentials \
            creds csrf cvc cvv hmac jws jwt oauth otp passcode passkey passphrase passwd password passwords \
            pswd pw pwd secret secrets sess sessid session sid sig signature token totp verifier xsrf
            """, .secret
        ),
        ("sessions signatures tokens", .plural),
        (
            """
            active cached completion count input max min num number output prompt reasoning remaining total \
            training used
            """, .quantity
        ),
        ("cookie cookies key keys pass pin", .ambiguous),
        (
            """
            access account api app client consumer encryption host license master private secret server \
            service shared signing ssh storage subscription
            """, .owner
        ),
        ("hash hex id material pair pem phrase wd word", .follower),
        (
            """
            arrow cache candidate composite continuation dedup foreign group hot idempotency index map natural \
            object page pagination partition primary public row search shortcut socket sort surrogate \
            translation unique
            """, .harmlessOwner
        ),
        ("code codes number phrase word", .secondWord),
        ("can has is max min needs num requires", .statement),
        (
            """
            accepted address age alg algorithm at balance changed consent count counts created date decimals \
            description duration enabled endpoint expiration expired expires expiry format in index label \
            length level limit method methods mode name names path paths policy position price provider \
            required requirements scheme scope scopes size status strength supported symbol time timeout title \
            ttl type types updated usage valid verified version
            """, .description
        ),
    ]
}

extension UInt8 {
    fileprivate var isUppercase: Bool { (0x41...0x5A).contains(self) }
    fileprivate var isLowercase: Bool { (0x61...0x7A).contains(self) }
    /// A letter, or a byte of a character outside ASCII.
    fileprivate var isPartOfWord: Bool { isUppercase || isLowercase || self >= 0x80 }
}
