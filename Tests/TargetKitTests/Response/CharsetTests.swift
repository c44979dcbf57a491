// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Charsets")
struct CharsetTests {
    private static func response(_ bytes: [UInt8], _ type: String?) -> Response {
        var headers = HTTPHeaders()
        headers[.contentType] = type
        return Response(statusCode: 200, data: Data(bytes), headers: headers)
    }

    @Test(
        "Text is read in the charset that is named, else as UTF-8, else as windows-1252",
        arguments: [
            ([0x63, 0x61, 0x66, 0xC3, 0xA9], nil, "café"), ([0x63, 0x61, 0x66, 0xE9], nil, "café"),
            ([0x93, 0x61, 0x94, 0x81], nil, "“a”\u{81}"),
            ([0x63, 0x61, 0x66, 0xE9], "text/plain; charset=ISO-8859-1", "café"),
            ([0x80, 0x9D], "text/plain; charset=ISO-8859-1", "€\u{9D}"),
            ([0x80], "text/plain; Charset=\"windows-1252\"", "€"), ([0x80], "text/plain;charset='cp1252' ; a=b", "€"),
            ([0xFF, 0xFE, 0x61, 0x00], "text/plain; charset=utf-16", "a"),
            ([0x61, 0x00], "text/plain; charset=utf-16", "a"), ([0x00, 0x61], "text/plain; charset=utf-16be", "a"),
            ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "text/plain; charset=utf-32", "a"),
            ([0x61, 0xFF, 0x62], "text/plain; charset=utf-8", "a\u{FFFD}b"),
            ([0xAE], "text/plain; charset=iso-8859-3", "\u{FFFD}"), ([], nil, ""), ([], "text/plain; charset=nope", ""),
        ] as [([UInt8], String?, String)]
    )
    func text(bytes: [UInt8], type: String?, text: String) throws {
        #expect(try Self.response(bytes, type).string() == text)
    }

    @Test(
        "A byte order mark says more than the label, and is no part of the text",
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "utf-8"), ([0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "iso-8859-1"),
            ([0xFF, 0xFE, 0xE9, 0x00], "utf-8"), ([0xFE, 0xFF, 0x00, 0xE9], "utf-16le"),
        ] as [([UInt8], String)]
    )
    func byteOrderMark(bytes: [UInt8], label: String) throws {
        #expect(try Self.response(bytes, "text/plain; charset=\(label)").string() == "é")
        #expect(try Self.response(bytes, nil).string() == "é")
    }

    /// Bytes of each encoding of the Encoding Standard that Foundation reads, what they mean, and the labels of the encoding.
    /// The texts were made by Python 3.11's codecs.
    static let rows: [(bytes: [UInt8], text: String, labels: String)] = [
        (
            [0xC3, 0xA9], "é", "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"
        ),
        ([0x8F, 0xE0, 0xA8], "При", "ibm866 cp866 866 csibm866"),
        (
            [0xB1, 0xE6, 0xEA], "ąćę",
            "iso-8859-2 latin2 l2 iso_8859-2:1987 iso-ir-101 csisolatin2 iso8859-2 iso88592 iso_8859-2"
        ),
        (
            [0xB1, 0xE6, 0xB6], "ħĉĥ",
            "iso-8859-3 latin3 l3 iso_8859-3:1988 iso-ir-109 csisolatin3 iso8859-3 iso88593 iso_8859-3"
        ),
        (
            [0xB1, 0xE0, 0xBF], "ąāŋ",
            "iso-8859-4 latin4 l4 iso_8859-4:1988 iso-ir-110 csisolatin4 iso8859-4 iso88594 iso_8859-4"
        ),
        (
            [0xBF, 0xE0, 0xD8], "При",
            "iso-8859-5 cyrillic iso_8859-5:1988 iso-ir-144 csisolatincyrillic iso8859-5 iso88595 iso_8859-5"
        ),
        (
            [0xC7, 0xE4], "ال",
            "iso-8859-6 arabic asmo-708 ecma-114 iso-8859-6-e iso-8859-6-i csiso88596e csiso88596i csisolatinarabic iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
        (
            [0xE1, 0xF9], "αω",
            "iso-8859-7 greek greek8 ecma-118 elot_928 sun_eu_greek iso-ir-126 csisolatingreek iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987"
        ),
        (
            [0xE0, 0xFA], "את",
            "iso-8859-8 hebrew visual iso-8859-8-e csiso88598e csisolatinhebrew iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 iso-8859-8-i csiso88598i logical"
        ),
        ([0xB1, 0xE0, 0xBF], "ąāŋ", "iso-8859-10 latin6 l6 iso-ir-157 csisolatin6 iso8859-10 iso885910"),
        ([0xE0, 0xFB], "ąū", "iso-8859-13 iso8859-13 iso885913"),
        ([0xA2, 0xFE], "ḃŷ", "iso-8859-14 iso8859-14 iso885914"),
        ([0xA4, 0xBD], "€œ", "iso-8859-15 l9 latin9 csisolatin9 iso8859-15 iso885915 iso_8859-15"),
        ([0xA2, 0xAA], "ąȘ", "iso-8859-16"),
        ([0xF0, 0xD2, 0xC9], "При", "koi8-r koi koi8 koi8_r cskoi8r"),
        ([0xF0, 0xA4, 0xA7], "Пєї", "koi8-u koi8-ru"),
        ([0x8E, 0xA5], "é•", "macintosh mac x-mac-roman csmacintosh"),
        ([0xA1, 0x80], "ก€", "windows-874 dos-874 tis-620 iso-8859-11 iso8859-11 iso885911"),
        ([0x9C, 0xB9], "śą", "windows-1250 cp1250 x-cp1250"),
        ([0xCF, 0xF0, 0xE8], "При", "windows-1251 cp1251 x-cp1251"),
        (
            [0x80, 0xE9], "€é",
            "windows-1252 cp1252 x-cp1252 iso-8859-1 latin1 l1 us-ascii ascii ansi_x3.4-1968 cp819 ibm819 csisolatin1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987"
        ),
        ([0xE1, 0x80], "α€", "windows-1253 cp1253 x-cp1253"),
        (
            [0xF0, 0x80], "ğ€",
            "windows-1254 cp1254 x-cp1254 iso-8859-9 latin5 l5 csisolatin5 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989"
        ),
        ([0xE0, 0x80], "א€", "windows-1255 cp1255 x-cp1255"), ([0xC7, 0x80], "ا€", "windows-1256 cp1256 x-cp1256"),
        ([0xE0, 0x80], "ą€", "windows-1257 cp1257 x-cp1257"), ([0xFE, 0x80], "₫€", "windows-1258 cp1258 x-cp1258"),
        ([0x8F, 0xE0, 0xE8], "Паи", "x-mac-cyrillic x-mac-ukrainian"),
        (
            [0xC4, 0xE3, 0x81, 0x40], "你丂",
            "gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 iso-ir-58 x-gbk"
        ),
        ([0xC4, 0xE3, 0x81, 0x30, 0x81, 0x30], "你\u{80}", "gb18030"),
        ([0xA7, 0xDA, 0x87, 0x40], "我䏰", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        ([0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ", "iso-2022-jp csiso2022jp"),
        (
            [0x82, 0xA0, 0x87, 0x40, 0xB1], "あ①ｱ",
            "shift_jis shift-jis sjis x-sjis ms932 ms_kanji csshiftjis windows-31j"
        ),
        (
            [0xB0, 0xA1, 0x81, 0x41], "가갂",
            "euc-kr windows-949 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 cseuckr csksc56011987 iso-ir-149"
        ),
        ([0x00, 0xE9], "é", "utf-16be unicodefffe"),
        ([0xE9, 0x00], "é", "utf-16 utf-16le ucs-2 iso-10646-ucs-2 csunicode unicode unicodefeff"),
    ]

    @Test("Every label of the Encoding Standard names its charset, in any case", arguments: rows.indices)
    func labels(row: Int) throws {
        let (bytes, text, labels) = Self.rows[row]
        for label in labels.split(separator: " ") {
            #expect(try Self.response(bytes, "text/plain; charset=\(label)").string() == text, "\(label)")
            #expect(try Self.response(bytes, "text/plain; charset=\(label.uppercased())").string() == text, "\(label)")
        }
    }

    @Test(
        "A charset that cannot be read is said, unless the bytes are UTF-8",
        arguments: ["no-such-thing", "utf-7", "iso-2022-kr", "hz-gb-2312", "x-user-defined", "replacement"]
    )
    func unknown(label: String) throws {
        let response = Self.response([0x63, 0xE9], "text/plain; charset=\(label)")
        let error = try #require(throws: TargetKitError.self) { try response.string() }
        #expect(error.stage == .decoding)
        #expect(error.description.hasSuffix("the charset \(label) cannot be read"))
        #expect(try Self.response(Array("é".utf8), "text/plain; charset=\(label)").string() == "é")
    }

    @Test(
        "EUC-JP is read where the system has it, else it is said",
        arguments: ["euc-jp", "x-euc-jp", "cseucpkdfmtjapanese"]
    )
    func japanese(label: String) throws {
        let response = Self.response([0xA4, 0xA2], "text/plain; charset=\(label)")
        if "あ".canBeConverted(to: .japaneseEUC) {
            #expect(try response.string() == "あ")
        } else {
            let error = try #require(throws: TargetKitError.self) { try response.string() }
            #expect(error.description.hasSuffix("the charset \(label) cannot be read"))
        }
    }

    @Test(
        "Bytes that the named charset has no text for are said",
        arguments: [
            ("shift_jis", [0x61, 0x82]), ("euc-kr", [0x61, 0xB0]), ("iso-2022-jp", [0x61, 0xFF]),
            ("gb2312", [0x61, 0xFF]), ("big5", [0x61, 0xA7]),
        ] as [(String, [UInt8])]
    )
    func malformed(label: String, bytes: [UInt8]) throws {
        let error = try #require(throws: TargetKitError.self) {
            try Self.response(bytes, "text/plain; charset=\(label)").string()
        }
        #expect(error.description.hasSuffix("the body is not text in the charset \(label)"))
    }

    @Test("A label that repeats the request is not shown")
    func echo() throws {
        var request = URLRequest(url: try #require(URL(string: "https://h.example/?key=s3cret")))
        request.setValue("Bearer t0ken", forHTTPHeaderField: "Authorization")
        for secret in ["s3cret", "t0ken"] {
            let headers: HTTPHeaders = ["Content-Type": "text/plain; charset=\(secret)"]
            let response = Response(statusCode: 200, data: Data([0xE9]), headers: headers, request: request)
            let error = try #require(throws: TargetKitError.self) { try response.string() }
            #expect(!error.description.contains(secret))
        }
    }

    @Test(
        "A label is shown only when it is one",
        arguments: ["s3cret\u{1B}[2J", "s3 cret", String(repeating: "s3cret", count: 9)]
    )
    func noSecret(label: String) throws {
        let response = Self.response([0xE9], "text/plain; charset=\"\(label)\"")
        let error = try #require(throws: TargetKitError.self) { try response.string() }
        #expect(!error.description.contains("cret"))
        #expect(error.description.hasSuffix("the charset that the Content-Type names cannot be read"))
    }
}
