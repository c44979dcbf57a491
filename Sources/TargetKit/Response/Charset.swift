// SPDX-License-Identifier: MIT

/// A character encoding by one of its labels in the WHATWG Encoding Standard (§4.2), decoded as the standard specifies.
/// For example, the label ISO-8859-1 means windows-1252, GB 2312 means GB 18030, and Shift_JIS includes the extensions
/// of Windows.
///
/// Foundation supports all of the standard's encodings except `replacement`, `x-user-defined` and, on Linux, EUC-JP.
struct Charset {
    private enum Form: Sendable {
        case utf8
        case utf16(isBigEndian: Bool)
        case utf32
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
        if let (marked, name, length) = mark(of: data, charset: charset) {
            guard let text = marked.text(of: data.dropFirst(length)) else { throw .notText(charset: name) }
            return text
        }
        if let text = charset?.text(of: data) ?? String(data: data, encoding: .utf8) { return text }
        guard let label else { return text(ofEachByte: data, encoding: windows1252) ?? "" }
        throw charset == nil ? .charset(label) : .notText(charset: label)
    }

    /// The charset of a byte order mark, its name, and the mark's length in bytes.
    private static func mark(of data: Data, charset: Charset?) -> (Charset, String, Int)? {
        // The byte order mark of UTF-32 begins with the mark of UTF-16.
        if case .utf32 = charset?.form { return nil }
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
        case .utf32: data.count % 4 == 0 ? String(data: data, encoding: .utf32) : nil
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

    private static let forms: [String: Form] = {
        var forms: [String: Form] = ["utf-32": .utf32]
        func add(_ form: Form, labels: String) {
            for label in labels.split(separator: " ") { forms[String(label)] = form }
        }
        add(.utf8, labels: "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8")
        add(.utf16(isBigEndian: true), labels: "utf-16be unicodefffe")
        add(
            .utf16(isBigEndian: false),
            labels: "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"
        )
        for (number, labels) in singleBytes { add(.bytes(encoding(number)), labels: labels) }
        for (number, labels) in sequences { add(.sequences(encoding(number)), labels: labels) }
        return forms
    }()

    /// Core Foundation's encoding number with the top bit set. Foundation lacks constants for most encodings, and its
    /// Mac Roman decodes differently on Linux (Swift 6.3.1).
    private static func encoding(_ number: UInt) -> String.Encoding {
        String.Encoding(rawValue: 0x8000_0000 | number)
    }

    /// Core Foundation's encoding numbers (`CFStringEncodingExt.h`), and the labels of each encoding.
    private static let singleBytes: [(number: UInt, labels: String)] = [
        (0x041B, "ibm866 866 cp866 csibm866"),
        (
            0x0202,
            "iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
        ),
        (
            0x0203,
            "iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
        ),
        (
            0x0204,
            "iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
        ),
        (
            0x0205,
            "iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        (
            0x0206,
            "iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e "
                + "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
        (
            0x0207,
            "iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 "
                + "iso_8859-7 iso_8859-7:1987 sun_eu_greek"
        ),
        (
            0x0208,
            "iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
                + "iso_8859-8 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical"
        ),
        (0x020A, "iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        (0x020D, "iso-8859-13 iso8859-13 iso885913"),
        (0x020E, "iso-8859-14 iso8859-14 iso885914"),
        (0x020F, "iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9 latin9"),
        (0x0210, "iso-8859-16"),
        (0x0A02, "koi8-r cskoi8r koi koi8 koi8_r"),
        (0x0A08, "koi8-u koi8-ru"),
        (0x0000, "macintosh csmacintosh mac x-mac-roman"),
        (0x041D, "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
        (0x0501, "windows-1250 cp1250 x-cp1250"),
        (0x0502, "windows-1251 cp1251 x-cp1251"),
        (
            0x0500,
            "windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
                + "iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252"
        ),
        (0x0503, "windows-1253 cp1253 x-cp1253"),
        (
            0x0504,
            "windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
                + "iso_8859-9:1989 l5 latin5 x-cp1254"
        ),
        (0x0505, "windows-1255 cp1255 x-cp1255"),
        (0x0506, "windows-1256 cp1256 x-cp1256"),
        (0x0507, "windows-1257 cp1257 x-cp1257"),
        (0x0508, "windows-1258 cp1258 x-cp1258"),
        (0x0007, "x-mac-cyrillic x-mac-ukrainian"),
    ]

    private static let sequences: [(number: UInt, labels: String)] = [
        (
            0x0632,
            "gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"
        ),
        (0x0A06, "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        (0x0920, "euc-jp cseucpkdfmtjapanese x-euc-jp"),
        (0x0820, "iso-2022-jp csiso2022jp"),
        (0x0420, "shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
        (
            0x0422,
            "euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
                + "windows-949"
        ),
    ]
}
