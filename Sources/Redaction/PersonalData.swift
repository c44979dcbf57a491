// SPDX-License-Identifier: MIT
import TargetKit

/// Recognizes personal data by the names of fields and by the form of numbers.
enum PersonalData {
    /// Whether a field with this name, in lowercase without `-` and `_`, usually contains personal data.
    static func isName(_ name: String) -> Bool {
        names.contains(name) || endings.contains(where: name.hasSuffix) || words.contains(where: name.contains)
    }

    private static let names: Set<String> = [
        "address", "birthdate", "birthday", "dob", "imei", "imsi", "oaid", "idfa", "passport", "qq", "ssn", "tel",
        "wechat",
        "weixin",
    ]

    /// The ends of names such as `userMobile` and `receiver_phone_no`.
    private static let endings = [
        "phone", "mobile", "telephone", "phoneno", "phonenum", "phonenumber", "mobileno", "mobilenum", "mobilenumber",
        "telno", "msisdn", "idcard", "idcardno", "idcardnum", "idcardnumber", "identitycard", "identityno",
        "identitynumber", "idno", "idnumber", "certno", "passportno", "passportnumber", "openid", "unionid", "bankcard",
        "bankaccount", "bankno", "cardno", "cardnum", "cardnumber", "iban", "realname", "truename", "fullname", "email",
        "emailaddress", "homeaddress", "useraddress", "receiveraddress", "detailaddress",
    ]

    /// Telephones, documents, bank cards, names, addresses and e-mail, in simplified and traditional characters.
    private static let words = [
        "手机", "手機", "电话", "電話", "身份证", "身份證", "身分證", "护照", "護照", "银行卡", "銀行卡", "卡号", "卡號",
        "姓名", "住址", "地址", "邮箱", "郵箱", "信箱",
    ]
}

extension PersonalData {
    /// The text with its personal numbers redacted.
    static func redacted(_ text: String) -> String {
        String(decoding: redacted(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// The bytes with their personal numbers redacted.
    static func redacted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            guard bytes[index].isDigit else {
                copy.append(bytes[index])
                index += 1
                continue
            }
            let first = bytes[index...].firstIndex { !$0.isDigit } ?? bytes.endIndex
            // The longest number with hyphens has 19 digits.
            let rest = bytes[first...].prefix(24)
            let end = rest.firstIndex { !$0.isDigit && $0 != UInt8(ascii: "-") } ?? rest.endIndex
            let groups = bytes[index..<end].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            if isStart(index, of: bytes), let last = endOfNumber(from: index, groups: groups, in: bytes) {
                copy += TextRedactor.placeholder
                index = last
            } else {
                copy += bytes[index..<first]
                index = first
            }
        }
        return copy
    }

    /// The end of the personal number that consists of the digits, or of all groups of digits, such as `138-0013-8000`.
    private static func endOfNumber(
        from start: Int,
        groups: [ArraySlice<UInt8>],
        in bytes: ArraySlice<UInt8>
    ) -> Int? {
        guard let first = groups.first, let last = groups.last else { return nil }
        let isGrouped = groups.count > 1 && groups.dropLast().allSatisfy { (3...4).contains($0.count) } && !last.isEmpty
        let digits = isGrouped ? groups.flatMap { $0 } : Array(first)
        var end = isGrouped ? last.endIndex : first.endIndex
        let hasX = end < bytes.endIndex && bytes[end].asciiLowercased == UInt8(ascii: "x")
        if hasX { end += 1 }
        guard end == bytes.endIndex || !bytes[end].isLetterOrDigit && bytes[end] != UInt8(ascii: "_") else {
            return nil
        }
        if hasX { return digits.count == 17 && isIdentityCard(digits + [UInt8(ascii: "x")]) ? end : nil }
        // An international number, such as `+49 …`.
        let hasPlus = start > bytes.startIndex && bytes[start - 1] == UInt8(ascii: "+")
        let isPersonal = hasPlus && (8...15).contains(digits.count) || isMobile(digits) || isIdentityCard(digits)
        return isPersonal || isBankCard(digits) ? end : nil
    }

    /// Whether a number can start at the index, which isn't within a word or a fraction.
    private static func isStart(_ index: Int, of bytes: ArraySlice<UInt8>) -> Bool {
        guard index > bytes.startIndex else { return true }
        let before = bytes[index - 1]
        if before == UInt8(ascii: "_") || before == UInt8(ascii: ".") || before == UInt8(ascii: "-") { return false }
        // The end of an escape, for example `%2B`.
        let isEscape = index - bytes.startIndex > 2 && bytes[index - 3] == UInt8(ascii: "%")
        return !before.isLetterOrDigit || isEscape
    }

    /// Whether the digits are a mobile number of China, with or without its country code.
    private static func isMobile(_ digits: [UInt8]) -> Bool {
        let prefix = digits.dropLast(11)
        guard prefix.isEmpty || [Array("86".utf8), Array("0086".utf8)].contains(Array(prefix)) else { return false }
        let number = digits.suffix(11)
        return number.first == UInt8(ascii: "1") && number.dropFirst().first ?? 0 >= UInt8(ascii: "3")
    }

    /// Whether the digits are an identity number of China with its check digit (GB 11643).
    private static func isIdentityCard(_ digits: [UInt8]) -> Bool {
        guard digits.count == 18, digits[6] == UInt8(ascii: "1") || digits[6] == UInt8(ascii: "2") else { return false }
        let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
        let sum = zip(digits, weights).reduce(0) { $0 + Int($1.0 - 0x30) * $1.1 }
        return digits[17] == Array("10x98765432".utf8)[sum % 11]
    }

    /// Whether the digits are the number of a bank card with its check digit (ISO/IEC 7812-1).
    private static func isBankCard(_ digits: [UInt8]) -> Bool {
        guard (15...19).contains(digits.count), ("3"..."6").contains(Character(Unicode.Scalar(digits[0]))) else {
            return false
        }
        let sum = digits.reversed().enumerated().reduce(0) { sum, next in
            let digit = Int(next.element - 0x30)
            return sum + (next.offset % 2 == 0 ? digit : digit * 2 % 10 + digit / 5)
        }
        return sum % 10 == 0
    }
}
