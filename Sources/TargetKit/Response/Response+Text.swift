// SPDX-License-Identifier: MIT
import Foundation

extension Response {
    /// The body's text, or the JSON string at a key path.
    ///
    /// The whole body is read in the charset that `Content-Type` names (RFC 9110 §8.3.2), without one as UTF-8, and what is not
    /// UTF-8 as ISO-8859-1.
    ///
    /// - Parameter keyPath: Where in the body's JSON the string lies, `data.title` for one; default `nil`: the whole body.
    /// - Throws: ``TargetKitError`` of stage `.decoding` when there is no string at the key path.
    public func string(atKeyPath keyPath: String? = nil) throws(TargetKitError) -> String {
        if let keyPath, !keyPath.isEmpty { return try decode(String.self, atKeyPath: keyPath) }
        let encoding = headers[.contentType].flatMap(Self.charset)
        return encoding.flatMap { String(data: data, encoding: $0) }
            ?? String(data: data, encoding: .utf8)
            ?? String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
    }

    /// The encoding of a media type's `charset` parameter; `nil` when there is none, or it is not known.
    private static func charset(of mediaType: String) -> String.Encoding? {
        for parameter in mediaType.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).equalsIgnoringASCIICase("charset")
            else {
                continue
            }
            let name = pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'")).lowercased()
            return encodings[name]
        }
        return nil
    }

    /// The names of the IANA registry that servers use for these.
    private static let encodings: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "iso-8859-1": .isoLatin1, "latin1": .isoLatin1,
        "iso-8859-2": .isoLatin2, "windows-1252": .windowsCP1252, "windows-1251": .windowsCP1251, "utf-16": .utf16,
        "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian, "utf-32": .utf32, "shift_jis": .shiftJIS,
        "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP, "gb18030": simplifiedChinese, "gbk": simplifiedChinese,
        "gb2312": simplifiedChinese, "big5": traditionalChinese, "euc-kr": korean,
    ]

    // Encodings that Foundation reads and has no names for: Core Foundation's numbers with the top bit set.

    /// GB 18030, which GBK and GB 2312 are parts of.
    private static let simplifiedChinese = String.Encoding(rawValue: 0x8000_0632)
    /// Big5.
    private static let traditionalChinese = String.Encoding(rawValue: 0x8000_0A03)
    /// EUC-KR.
    private static let korean = String.Encoding(rawValue: 0x8000_0940)
}
