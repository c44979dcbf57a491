// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@testable import _TargetKitSupport

/// The expected bytes follow from RFC 3986 §2.1 to §2.3 and §3.4: unreserved characters stand, and in a query `/` and
/// `?` too; all else is its UTF-8 bytes in upper-case hexadecimal digits.
@Suite("Percent-encoding", .throttled)
struct PercentEncodingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let raw: String
        let query: String
        let unreserved: String

        init(_ raw: String, _ query: String, unreserved: String? = nil) {
            self.raw = raw
            self.query = query
            self.unreserved = unreserved ?? query
        }

        var testDescription: String { raw.debugDescription }
    }

    @Test("A query keeps the unreserved characters, / and ?", arguments: rows)
    func query(row: Row) {
        #expect(PercentEncoding.encode(row.raw) == row.query)
    }

    @Test("A path segment keeps the unreserved characters only", arguments: rows)
    func segment(row: Row) {
        #expect(PercentEncoding.encode(row.raw, allowing: .unreserved) == row.unreserved)
    }

    @Test("A space is a plus when asked, and a plus stays escaped", arguments: rows)
    func spaceAsPlus(row: Row) {
        let expected = row.query.split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+")
        #expect(PercentEncoding.encode(row.raw, spaceAsPlus: true) == expected)
    }

    @Test("A part of a text is encoded as that part", arguments: rows)
    func substring(row: Row) {
        let text = PercentEncoding.encode(String(("<" + row.raw).dropFirst()))
        #expect(text.unicodeScalars.elementsEqual(row.query.unicodeScalars))
    }

    @Test("Twenty thousand characters are encoded as one is")
    func long() {
        let text = String(repeating: "一a", count: 10_000)
        #expect(PercentEncoding.encode(text) == String(repeating: "%E4%B8%80a", count: 10_000))
    }

    static let rows: [Row] = [
        Row("\u{0}", "%00"), Row("\u{1}", "%01"), Row("\u{2}", "%02"),
        Row("\u{3}", "%03"), Row("\u{4}", "%04"), Row("\u{5}", "%05"),
        Row("\u{6}", "%06"), Row("\u{7}", "%07"), Row("\u{8}", "%08"),
        Row("\t", "%09"), Row("\n", "%0A"), Row("\u{B}", "%0B"),
        Row("\u{C}", "%0C"), Row("\r", "%0D"), Row("\u{E}", "%0E"),
        Row("\u{F}", "%0F"), Row("\u{10}", "%10"), Row("\u{11}", "%11"),
        Row("\u{12}", "%12"), Row("\u{13}", "%13"), Row("\u{14}", "%14"),
        Row("\u{15}", "%15"), Row("\u{16}", "%16"), Row("\u{17}", "%17"),
        Row("\u{18}", "%18"), Row("\u{19}", "%19"), Row("\u{1A}", "%1A"),
        Row("\u{1B}", "%1B"), Row("\u{1C}", "%1C"), Row("\u{1D}", "%1D"),
        Row("\u{1E}", "%1E"), Row("\u{1F}", "%1F"), Row(" ", "%20"),
        Row("!", "%21"), Row("\"", "%22"), Row("#", "%23"), Row("$", "%24"),
        Row("%", "%25"), Row("&", "%26"), Row("'", "%27"), Row("(", "%28"),
        Row(")", "%29"), Row("*", "%2A"), Row("+", "%2B"), Row(",", "%2C"),
        Row("-", "-"), Row(".", "."), Row("/", "/", unreserved: "%2F"),
        Row("0", "0"), Row("1", "1"), Row("2", "2"), Row("3", "3"),
        Row("4", "4"), Row("5", "5"), Row("6", "6"), Row("7", "7"),
        Row("8", "8"), Row("9", "9"), Row(":", "%3A"), Row(";", "%3B"),
        Row("<", "%3C"), Row("=", "%3D"), Row(">", "%3E"),
        Row("?", "?", unreserved: "%3F"), Row("@", "%40"), Row("A", "A"),
        Row("B", "B"), Row("C", "C"), Row("D", "D"), Row("E", "E"),
        Row("F", "F"), Row("G", "G"), Row("H", "H"), Row("I", "I"),
        Row("J", "J"), Row("K", "K"), Row("L", "L"), Row("M", "M"),
        Row("N", "N"), Row("O", "O"), Row("P", "P"), Row("Q", "Q"),
        Row("R", "R"), Row("S", "S"), Row("T", "T"), Row("U", "U"),
        Row("V", "V"), Row("W", "W"), Row("X", "X"), Row("Y", "Y"),
        Row("Z", "Z"), Row("[", "%5B"), Row("\\", "%5C"), Row("]", "%5D"),
        Row("^", "%5E"), Row("_", "_"), Row("`", "%60"), Row("a", "a"),
        Row("b", "b"), Row("c", "c"), Row("d", "d"), Row("e", "e"),
        Row("f", "f"), Row("g", "g"), Row("h", "h"), Row("i", "i"),
        Row("j", "j"), Row("k", "k"), Row("l", "l"), Row("m", "m"),
        Row("n", "n"), Row("o", "o"), Row("p", "p"), Row("q", "q"),
        Row("r", "r"), Row("s", "s"), Row("t", "t"), Row("u", "u"),
        Row("v", "v"), Row("w", "w"), Row("x", "x"), Row("y", "y"),
        Row("z", "z"), Row("{", "%7B"), Row("|", "%7C"), Row("}", "%7D"),
        Row("~", "~"), Row("\u{7F}", "%7F"), Row("", ""), Row("abc", "abc"),
        Row("a b", "a%20b"), Row("a+b", "a%2Bb"), Row("a%20b", "a%2520b"),
        Row("%", "%25"), Row("%25", "%2525"), Row("%zz", "%25zz"),
        Row("100%", "100%25"), Row("a=b&c=d", "a%3Db%26c%3Dd"),
        Row("key[0]", "key%5B0%5D"),
        Row("a/../b?c", "a/../b?c", unreserved: "a%2F..%2Fb%3Fc"),
        Row("..", ".."),
        Row("?q=1#frag", "?q%3D1%23frag", unreserved: "%3Fq%3D1%23frag"),
        Row(
            "https://example.com/a?b=c",
            "https%3A//example.com/a?b%3Dc",
            unreserved: "https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc"
        ),
        Row("é", "%C3%A9"), Row("e\u{301}", "e%CC%81"), Row("ß", "%C3%9F"),
        Row("ñandú", "%C3%B1and%C3%BA"), Row("français", "fran%C3%A7ais"),
        Row("Ünïcödé", "%C3%9Cn%C3%AFc%C3%B6d%C3%A9"),
        Row("日本語", "%E6%97%A5%E6%9C%AC%E8%AA%9E"),
        Row("汉字", "%E6%B1%89%E5%AD%97"),
        Row("한국어", "%ED%95%9C%EA%B5%AD%EC%96%B4"),
        Row("العربية", "%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9"),
        Row("עברית", "%D7%A2%D7%91%D7%A8%D7%99%D7%AA"),
        Row("Привет", "%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82"),
        Row("Ελλάδα", "%CE%95%CE%BB%CE%BB%CE%AC%CE%B4%CE%B1"),
        Row("ไทย", "%E0%B9%84%E0%B8%97%E0%B8%A2"),
        Row("हिन्दी", "%E0%A4%B9%E0%A4%BF%E0%A4%A8%E0%A5%8D%E0%A4%A6%E0%A5%80"),
        Row("😃", "%F0%9F%98%83"),
        Row("👩\u{200D}👩\u{200D}👧", "%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        Row("🇩🇪", "%F0%9F%87%A9%F0%9F%87%AA"),
        Row("👍🏽", "%F0%9F%91%8D%F0%9F%8F%BD"), Row("€", "%E2%82%AC"),
        Row("£", "%C2%A3"), Row("\u{A0}", "%C2%A0"),
        Row("\u{2028}", "%E2%80%A8"), Row("\u{FEFF}", "%EF%BB%BF"),
        Row("\u{FFFD}", "%EF%BF%BD"), Row("\u{FFFF}", "%EF%BF%BF"),
        Row("𝒳", "%F0%9D%92%B3"), Row("\u{10FFFF}", "%F4%8F%BF%BF"),
        Row("Ａ", "%EF%BC%A1"), Row("½", "%C2%BD"), Row("a\r\nb", "a%0D%0Ab"),
        Row("tab\there", "tab%09here"), Row("line\nfeed", "line%0Afeed"),
        Row("nul\u{0}nul", "nul%00nul"), Row(":#[]@", "%3A%23%5B%5D%40"),
        Row("!$&'()*+,;=", "%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
        Row(" \"#%<>[]\\^`{}|", "%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"),
        Row("-._~", "-._~"),
        Row(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        ),
        Row("12345678", "12345678"), Row("1234567é", "1234567%C3%A9"),
        Row("aaaaaaa ", "aaaaaaa%20"), Row("aaaaaaaa b", "aaaaaaaa%20b"),
        Row("aaaaaaaaé", "aaaaaaaa%C3%A9"), Row("_______~", "_______~"),
        Row("/??//???", "/??//???", unreserved: "%2F%3F%3F%2F%2F%3F%3F%3F"),
    ]
}
