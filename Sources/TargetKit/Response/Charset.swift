// SPDX-License-Identifier: MIT

/// A character encoding that servers send, by one of its labels in the WHATWG Encoding Standard (§4.2), decoded as the
/// standard specifies. For example, the label ISO-8859-1 means windows-1252, GB 2312 means GB 18030, and Shift_JIS
/// includes the extensions of Windows.
struct Charset {
    private enum Form: Sendable {
        case utf8
        case utf16(isBigEndian: Bool)
        /// One byte per character.
        case bytes(String.Encoding)
        /// One or more bytes per character.
        case sequences(String.Encoding)
    }

    private let form: Form

    private init(_ form: Form) {
        self.form = form
    }

    /// Creates the charset for a label; `nil` if it is unknown or can't be decoded on this system.
    init?(label: String) {
        guard let form = Self.forms[label.lowercased()] else { return nil }
        // Every multibyte charset has this letter. Foundation on Linux (Swift 6.3.1) lacks EUC-JP.
        if case .sequences(let encoding) = form, !"あ".canBeConverted(to: encoding) { return nil }
        self.form = form
    }

    /// Returns the text of a body.
    ///
    /// A byte order mark takes precedence over the label (Encoding Standard §6), and isn't part of the text. Without
    /// either, bytes that aren't UTF-8 are decoded as windows-1252. If the label is unknown or wrong, valid UTF-8 is
    /// decoded as UTF-8.
    ///
    /// - Parameter label: The charset in `Content-Type`; `nil` if it has none.
    /// - Throws: An error if the bytes are invalid.
    static func text(of data: Data, label: String?) throws(UnreadableBody) -> String {
        let charset = label.flatMap { Charset(label: $0) }
        if let (marked, name, length) = mark(of: data) {
            guard let text = marked.text(of: data.dropFirst(length)) else { throw .notText(charset: name) }
            return text
        }
        if let text = charset?.text(of: data) ?? String(data: data, encoding: .utf8) { return text }
        guard let label else { return text(ofEachByte: data, encoding: windows1252) ?? "" }
        throw charset == nil ? .charset(label) : .notText(charset: label)
    }

    /// The charset of a byte order mark, its name, and the mark's length in bytes.
    private static func mark(of data: Data) -> (Charset, String, Int)? {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return (Charset(.utf8), "utf-8", 3) }
        if data.starts(with: [0xFF, 0xFE]) { return (Charset(.utf16(isBigEndian: false)), "utf-16", 2) }
        if data.starts(with: [0xFE, 0xFF]) { return (Charset(.utf16(isBigEndian: true)), "utf-16be", 2) }
        return nil
    }

    /// The text of bytes in this charset; `nil` if they are invalid.
    private func text(of data: Data) -> String? {
        switch form {
        case .utf8: String(data: data, encoding: .utf8)
        case .utf16(let isBigEndian): Self.text(ofUnits: data, isBigEndian: isBigEndian)
        case .bytes(let encoding):
            String(data: data, encoding: encoding) ?? Self.text(ofEachByte: data, encoding: encoding)
        case .sequences(let encoding): String(data: data, encoding: encoding)
        }
    }

    private static func text(ofUnits data: Data, isBigEndian: Bool) -> String? {
        guard data.count % 2 == 0 else { return nil }
        let bytes = [UInt8](data)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        let text = String(decoding: units, as: UTF16.self)
        // Foundation replaces an unpaired surrogate with U+FFFD.
        return text.utf16.elementsEqual(units) ? text : nil
    }

    /// For a charset with unassigned bytes. Unassigned bytes below 0xA0 are control characters (Encoding Standard
    /// §9.1).
    private static func text(ofEachByte data: Data, encoding: String.Encoding) -> String? {
        let scalars = (UInt8.min...UInt8.max).map { byte -> Unicode.Scalar? in
            String(data: Data([byte]), encoding: encoding)?.unicodeScalars.first
                ?? (byte < 0xA0 ? Unicode.Scalar(byte) : nil)
        }
        var text = String.UnicodeScalarView()
        for byte in data {
            guard let scalar = scalars[Int(byte)] else { return nil }
            text.append(scalar)
        }
        return String(text)
    }
}

extension Charset {
    private static let windows1252 = encoding(0x0500)

    /// Core Foundation's encoding numbers (`CFStringEncodingExt.h`) with the top bit set. Foundation lacks constants for
    /// most encodings.
    private static func encoding(_ number: UInt) -> String.Encoding {
        String.Encoding(rawValue: 0x8000_0000 | number)
    }

    private static let forms: [String: Form] = {
        let labels: [(Form, String)] = [
            (.utf8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
            (.utf16(isBigEndian: true), "utf-16be unicodefffe"),
            (.utf16(isBigEndian: false), "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"),
            (
                .bytes(windows1252),
                "windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 "
                    + "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252"
            ),
            (.bytes(encoding(0x0502)), "windows-1251 cp1251 x-cp1251"),
            (.bytes(encoding(0x0A02)), "koi8-r cskoi8r koi koi8 koi8_r"),
            (
                .sequences(encoding(0x0632)),
                "gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"
            ),
            (.sequences(encoding(0x0A06)), "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
            (.sequences(encoding(0x0920)), "euc-jp cseucpkdfmtjapanese x-euc-jp"),
            (
                .sequences(encoding(0x0420)),
                "shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"
            ),
            (
                .sequences(encoding(0x0422)),
                "euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
                    + "windows-949"
            ),
        ]
        return Dictionary(
            uniqueKeysWithValues: labels.flatMap { form, names in names.split(separator: " ").map { (String($0), form) }
            }
        )
    }()
}
