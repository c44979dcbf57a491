// SPDX-License-Identifier: MIT
import TargetKit

/// Finds names that usually belong to secrets. Where there are several names, one value examines all of them, because a
/// first access to the words costs as much as a short name.
package struct SecretNames {
    private let meaningful = MeaningfulWords.all

    package init() {}

    /// Whether a field with this name, in UTF-8, usually contains a secret.
    package func isSecret(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        if meaningful.hasNoMeaning(name) { return false }
        var words = SecretWords(meaningful)
        words.read(name)
        return words.areSecret
    }

    /// Whether a query item or form field with this name, in UTF-8, usually contains a secret.
    package func isSecretParameter(utf8 name: UnsafeBufferPointer<UInt8>) -> Bool {
        isSecret(utf8: name) || name.count == 4 && zip(name, "code".utf8).allSatisfy { $0.asciiLowercased == $1 }
    }
}

/// The words of one name, in order. Only the last two are stored, as hashes, so that a name needs no strings.
private struct SecretWords {
    private let meaningful: MeaningfulWords
    private var count = 0
    /// The number of words since the last bracket, as in `user[mac]`.
    private var countInBrackets = 0
    private var last = WordHash()
    private var lastMeanings: SecretMeanings = []
    private var hasSecret = false
    /// Whether the last word itself is secret.
    private var isLastSecret = false
    /// Whether the last word is secret unless another word follows.
    private var isLastAmbiguous = false
    private var isStatement = false

    init(_ meaningful: MeaningfulWords) {
        self.meaningful = meaningful
    }

    /// Whether the words indicate a secret.
    var areSecret: Bool {
        if isStatement { return false }
        return isLastSecret || isLastAmbiguous || (hasSecret && !lastMeanings.contains(.description))
    }

    mutating func read(_ name: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for index in name.indices {
            let byte = name[index]
            if !byte.isPartOfWord {
                add(UnsafeBufferPointer(rebasing: name[start..<index]))
                start = index + 1
                if byte == UInt8(ascii: "[") { countInBrackets = 0 }
            } else if byte.isUppercase, index > start {
                // As in `accessToken` and, before the last capital of a run, `APIKey`.
                let endsCapitals = index + 1 < name.count && name[index + 1].isLowercase
                if name[index - 1].isLowercase || endsCapitals {
                    add(UnsafeBufferPointer(rebasing: name[start..<index]))
                    start = index
                }
            }
        }
        add(UnsafeBufferPointer(rebasing: name[start...]))
    }

    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard !bytes.isEmpty else { return }
        // The `X` of `X-Sign` and the `v` of `sign_v2` have no meaning.
        if bytes.count == 1, let byte = bytes.first?.asciiLowercased,
            byte == UInt8(ascii: "x") && count == 0
                || byte == UInt8(ascii: "v") && count > 0
        {
            return
        }
        let word = WordHash().appending(bytes)
        let meanings = meaningful.meanings(of: word)
        if count == 0 { isStatement = meanings.contains(.statement) }
        if isLastAmbiguous, lastMeanings.contains(.ambiguous), meanings.contains(.follower) { hasSecret = true }
        isLastSecret = isSecret(word, bytes, meanings: meanings)
        isLastAmbiguous = isAmbiguous(bytes, meanings: meanings)
        if isLastSecret || (isLastAmbiguous && meanings.contains(.ambiguous) && lastMeanings.contains(.owner)) {
            hasSecret = true
        }
        // Matches `one_time_code`, but not `time_code`.
        last = word == meaningful.time && last == meaningful.one ? last.appending(bytes) : word
        lastMeanings = meanings
        count += 1
        countInBrackets += 1
    }

    private func isSecret(
        _ word: WordHash,
        _ bytes: UnsafeBufferPointer<UInt8>,
        meanings: SecretMeanings
    ) -> Bool {
        if meanings.contains(.plural) { return lastMeanings.isDisjoint(with: [.quantity, .harmlessOwner]) }
        if meanings.contains(.secret) { return !(word == meaningful.token && lastMeanings.contains(.harmlessOwner)) }
        if meanings.contains(.secondWord), count > 0, meaningful.pairs.contains(last.appending(bytes)) { return true }
        return meanings.isEmpty && bytes.count > 5 && meaningful.endings.contains { bytes.hasSuffix($0) }
    }

    /// Whether the word is secret if no other word follows.
    private func isAmbiguous(_ bytes: UnsafeBufferPointer<UInt8>, meanings: SecretMeanings) -> Bool {
        if meanings.contains(.ambiguous) { return !lastMeanings.contains(.harmlessOwner) }
        if meanings.contains(.last) { return !meaningful.harmlessPairs.contains(last.appending(bytes)) }
        guard meanings.contains(.alone) else { return false }
        return countInBrackets == 0 || (meanings.contains(.owned) && lastMeanings.contains(.owner))
    }
}

/// The FNV-1a hash of a word in lowercase. The hash of two words continues that of the first.
private struct WordHash: Hashable {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    init(_ word: some StringProtocol) {
        for byte in word.utf8 { add(byte) }
    }

    func appending(_ bytes: UnsafeBufferPointer<UInt8>) -> WordHash {
        var hash = self
        for byte in bytes { hash.add(byte.asciiLowercased) }
        return hash
    }

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    /// The position in a table of 1,024 places.
    var position: Int { Int(truncatingIfNeeded: value ^ (value >> 32)) & 1023 }
}

/// The words with a meaning, by their hashes.
private final class MeaningfulWords: Sendable {
    static let all = MeaningfulWords()

    let pairs = Set(SecretMeanings.pairs.map { WordHash($0) })
    let harmlessPairs = Set(SecretMeanings.harmlessPairs.map { WordHash($0) })
    /// The ends of words written without separators. Most of them don't occur in English words.
    let endings = [
        "token", "secret", "password", "passwd", "passphrase", "pwd", "mima", "signature", "credential", "credentials",
        "sessionid", "sessid", "apikey", "accesskey", "accesskeyid", "appkey", "authkey", "clientkey", "consumerkey",
        "encryptionkey", "licensekey", "masterkey", "privatekey", "privkey", "secretkey", "sessionkey", "sharedkey",
        "signingkey", "subscriptionkey", "authorization", "cardnumber", "captcha", "密码",
        "密碼", "口令", "验证码", "驗證碼",
    ].map { Array($0.utf8) }
    let token = WordHash("token")
    let one = WordHash("one")
    let time = WordHash("time")
    private let meanings = SecretMeanings.ofWords.reduce(into: [:]) { $0[WordHash($1.key)] = $1.value }
    /// Whether a word has a position. Most words of a name have no meaning, and need no lookup in the dictionary.
    private let isTaken: [Bool]

    private init() {
        var isTaken = [Bool](repeating: false, count: 1024)
        for word in meanings.keys { isTaken[word.position] = true }
        self.isTaken = isTaken
    }

    /// Whether a name is one word in lowercase without a meaning, as most names of parameters are.
    func hasNoMeaning(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // Longer words can end with one of the endings.
        guard (2...5).contains(name.count) else { return false }
        var hash = WordHash()
        for byte in name {
            guard byte.isLowercase else { return false }
            hash.add(byte)
        }
        return !isTaken[hash.position]
    }

    func meanings(of word: WordHash) -> SecretMeanings {
        isTaken[word.position] ? meanings[word] ?? [] : []
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes end with a text, in lowercase.
    fileprivate func hasSuffix(_ text: [UInt8]) -> Bool {
        guard text.count <= count else { return false }
        let start = count - text.count
        return text.indices.reversed().allSatisfy { self[start + $0].asciiLowercased == text[$0] }
    }
}

/// The meaning of a word in a name.
struct SecretMeanings: OptionSet {
    let rawValue: Int

    /// Secret at any position in a name.
    static let secret = Self(rawValue: 1 << 0)
    /// Secret unless it is counted, as in `max_tokens`.
    static let plural = Self(rawValue: 1 << 1)
    /// Counts the following word.
    static let quantity = Self(rawValue: 1 << 2)
    /// Secret as the last word, after an owner, or before a follower, such as `key`, but not `key_path`.
    static let ambiguous = Self(rawValue: 1 << 3)
    /// Makes a following ambiguous word secret at any position, as in `private_key_path`.
    static let owner = Self(rawValue: 1 << 4)
    /// Makes a preceding ambiguous word secret, as in `key_id`.
    static let follower = Self(rawValue: 1 << 5)
    /// Makes the following word harmless, as in `publicKey`, `Idempotency-Key` and `pageToken`.
    static let harmlessOwner = Self(rawValue: 1 << 6)
    /// Can be the second of two words that are secret together, as in `deviceCode`.
    static let secondWord = Self(rawValue: 1 << 7)
    /// As the first word, asks a question or gives an amount, so the value isn't the secret, as in `hasPassword`.
    static let statement = Self(rawValue: 1 << 8)
    /// As the last word, denotes a property of a secret, as in `token_type`.
    static let description = Self(rawValue: 1 << 9)
    /// Secret only as the last word, as in `paySign`, but not `sign_in`.
    static let last = Self(rawValue: 1 << 10)
    /// Secret only as the whole name, such as `mac`, but not `mac_address`. Short words also have other meanings.
    static let alone = Self(rawValue: 1 << 11)
    /// Also secret as the last word after an owner, as in `card_pan` and `access_ak`.
    static let owned = Self(rawValue: 1 << 12)

    /// All words with a meaning, in lowercase.
    static let ofWords: [String: SecretMeanings] = {
        var meanings: [String: SecretMeanings] = [:]
        for (words, meaning) in texts {
            for word in words.split(separator: " ") { meanings[String(word), default: []].insert(meaning) }
        }
        // Two words can be written as one, as in `verifycode`.
        for pair in pairs { meanings[pair, default: []].insert(.secret) }
        return meanings
    }()

    private static let texts: [(String, SecretMeanings)] = [
        (
            """
            apisign appsign assertion auth authcode authentication authorization bearer captcha cardnumber cred \
            credential credentials creds csrf cvc cvv hcaptcha hmac jct jsapiticket jws jwt mima mnemonic oauth otp \
            passcode passkey passphrase passwd password passwords paysign psk pswd pw pwd recaptcha reqsign seccode \
            secret secrets sess sessdata sessid session sid sig signature skey token totp vcode verifier wresult \
            xprv xsign xsrf yzm
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
        ("dsn pat sign ticket", .last),
        ("ak mac pan sk tk", .alone),
        ("ak pan sk tk", .owned),
        (
            """
            access account api app card client consumer encryption host license master private secret server \
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
        (
            """
            answer code codes data link links mac no number phrase request response string strings word
            """, .secondWord
        ),
        ("can has is max min need needs num requires", .statement),
        (
            """
            accepted address age alg algorithm at balance changed consent count counts created date decimals \
            description duration enabled endpoint expiration expired expires expiry format in index label \
            length level limit method methods mode name names path paths policy position price provider \
            required requirements scheme scope scopes sent size status strength supported symbol time timeout title \
            ttl type types updated usage valid verified version
            """, .description
        ),
    ]

    /// Two words that are secret together.
    static let pairs: Set<String> = {
        var pairs: Set = [
            "backupcodes", "cardno", "cardnumber", "connectionstring", "connectionstrings", "encrypteddata",
            "pannumber",
            "passphrase", "password", "recoverycodes", "recoveryphrase", "samlart", "samlrequest", "samlresponse",
            "securityanswer", "seedphrase", "signedrequest", "turnstileresponse",
        ]
        // Codes that are sent once to prove a user's or server's identity.
        let codes = """
            access activation backup captcha check confirmation device dynamic email fa factor graph image img js login \
            mfa onetime otp pass pic pin recovery reset security signin sms tfa user valid validate validation verif \
            verification verify wx
            """
        for word in codes.split(separator: " ") { pairs.insert(String(word) + "code") }
        for word in ["activation", "confirmation", "magic", "recovery", "reset", "verification"] {
            pairs.formUnion([word + "link", word + "links"])
        }
        for word in ["body", "message", "request", "response"] { pairs.insert(word + "mac") }
        return pairs
    }()

    /// Pairs of words whose second word isn't secret, although it usually is as the last word.
    static let harmlessPairs: Set<String> = {
        let signs = "code currency dollar equals minus percent plus road star stop street traffic zodiac"
        let tickets = "bus event flight issue jira lottery movie parking season support train"
        return Set(
            signs.split(separator: " ").map { String($0) + "sign" }
                + tickets.split(separator: " ").map { String($0) + "ticket" }
        )
    }()
}
