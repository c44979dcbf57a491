// SPDX-License-Identifier: MIT
@testable import TargetKit

/// Texts for a reader of JSON, and what RFC 8259 says to each.
enum JSONTexts {
    /// Texts that are JSON, and the same values as JSON is written here.
    static let accepted: [(text: String, written: String)] = structures + strings + numbers

    private static let structures: [(text: String, written: String)] = [
        ("null", "null"), ("true", "true"), ("false", "false"), (" null", "null"), ("null ", "null"),
        ("\t\n\r true \t\n\r", "true"), ("[]", "[]"), ("{}", "{}"), ("[ ]", "[]"), ("{ }", "{}"), ("[\n]", "[]"),
        ("[[]]", "[[]]"), ("[[],[]]", "[[],[]]"), ("[{}]", "[{}]"), ("[{},[]]", "[{},[]]"), ("[null]", "[null]"),
        ("[1 , 2\t,\n3\r]", "[1,2,3]"), ("[1,null,true,\"a\",[],{}]", #"[1,null,true,"a",[],{}]"#),
        ("[[[[[[[[]]]]]]]]", "[[[[[[[[]]]]]]]]"), (#"{"a":1}"#, #"{"a":1}"#), (#" { "a" : 1 } "#, #"{"a":1}"#),
        (#"{"a":{"b":{"c":{}}}}"#, #"{"a":{"b":{"c":{}}}}"#), (#"{"":0}"#, #"{"":0}"#),
        (#"{"b":1,"a":2}"#, #"{"b":1,"a":2}"#), (#"{"a":1,"a":2}"#, #"{"a":1}"#),
        (#"{"a":1,"b":2,"a":3}"#, #"{"a":1,"b":2}"#), (#"{"a":1,"\u0061":2}"#, #"{"a":1}"#),
        (#"{"é":1,"\u00e9":2}"#, #"{"é":1}"#), (#"{"\u212a":1,"b":2,"K":3}"#, "{\"\u{212A}\":1,\"b\":2}"),
        (#"{"ab":1,"ba":2,"aa":3,"bb":4}"#, #"{"ab":1,"ba":2,"aa":3,"bb":4}"#),
        (#"{"a":[],"b":{},"c":"","d":0}"#, #"{"a":[],"b":{},"c":"","d":0}"#), (#"{"a.b":1}"#, #"{"a.b":1}"#),
        (#"{"a":null,"b":true,"c":false}"#, #"{"a":null,"b":true,"c":false}"#), ("\u{FEFF}1", "1"),
        (
            #"{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":10,"l":11,"m":12,"n":13,"a":14,"n":15}"#,
            #"{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":10,"l":11,"m":12,"n":13}"#
        ),
    ]

    private static let strings: [(text: String, written: String)] = [
        (#""""#, #""""#), (#""a""#, #""a""#), (#""12345678""#, #""12345678""#), (#""1234567""#, #""1234567""#),
        (#""a longer text, of more than sixteen bytes""#, #""a longer text, of more than sixteen bytes""#),
        (#""\"""#, #""\"""#), (#""\\""#, #""\\""#), (#""\/""#, #""/""#), ("\"/\"", "\"/\""),
        (#""\b\f\n\r\t""#, #""\b\f\n\r\t""#),
        (#""\u0041""#, #""A""#), (#""\u00E9""#, #""é""#), (#""\u00e9""#, #""é""#), (#""\u20AC""#, #""€""#),
        (#""\uD83D\uDE00""#, #""😀""#), (#""\ud83d\ude00""#, #""😀""#), (#""\uDBFF\uDFFF""#, "\"\u{10FFFF}\""),
        (#""\u0000""#, #""\u0000""#), (#""\u001f""#, #""\u001f""#), (#""\u007f""#, "\"\u{7F}\""),
        (#""\uFFFE""#, "\"\u{FFFE}\""),
        (#""\uFFFF""#, "\"\u{FFFF}\""), (#""\uFFFD""#, "\"\u{FFFD}\""), (#""\u2028""#, "\"\u{2028}\""),
        (#""\u0022""#, #""\"""#), (#""\u005C""#, #""\\""#), (#""x\u0041y""#, #""xAy""#),
        ("\"é\"", "\"é\""), ("\"汉字\"", "\"汉字\""), ("\"😀\"", "\"😀\""), ("\"\u{7F}\"", "\"\u{7F}\""),
        ("\"\u{80}\"", "\"\u{80}\""), ("\"\u{7FF}\u{800}\u{FFFF}\u{10000}\"", "\"\u{7FF}\u{800}\u{FFFF}\u{10000}\""),
        ("\"\u{D7FF}\u{E000}\"", "\"\u{D7FF}\u{E000}\""), ("\"\u{2028}\u{2029}\"", "\"\u{2028}\u{2029}\""),
        ("\"aé\\nb\"", "\"aé\\nb\""), ("\"1234567é\"", "\"1234567é\""), ("\"12345678\\n\"", "\"12345678\\n\""),
        ("\"'\"", "\"'\""), ("\"[]{},:\"", "\"[]{},:\""), ("\" \"", "\" \""), ("\"e\u{301}\"", "\"e\u{301}\""),
    ]

    private static let numbers: [(text: String, written: String)] = [
        ("0", "0"), ("-0", "-0"), ("1", "1"), ("-1", "-1"), ("10", "10"), ("1234567890", "1234567890"),
        ("9007199254740993", "9007199254740993"), ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"), ("9223372036854775808", "9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"), ("18446744073709551616", "18446744073709551616"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1", "0.1"), ("-0.1", "-0.1"), ("0.10", "0.1"), ("1.0", "1"), ("1.5", "1.5"), ("-1.50", "-1.5"),
        ("0.0", "0"),
        ("-0.0", "-0"), ("0e0", "0"), ("1e0", "1"), ("1e2", "100"), ("1E2", "100"), ("1e+2", "100"), ("100e-2", "1"),
        ("15e-1", "1.5"), ("1.5e1", "15"), ("1.5e3", "1500"), ("0.1e1", "1"), ("1e18", "1000000000000000000"),
        ("1e19", "10000000000000000000"), ("1e22", "1e+22"), ("1e-7", "1e-07"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("5e-324", "5e-324"), ("2.2250738585072014e-308", "2.2250738585072014e-308"), ("1e400", "1e400"),
        ("-1e400", "-1e400"), ("1e-400", "1e-400"), ("0e999999999999999999999", "0"),
        ("1e99999999999999999999", "1e99999999999999999999"), ("0.1000000000000000055", "0.1000000000000000055"),
        ("0.30000000000000004", "0.30000000000000004"), ("3.141592653589793", "3.141592653589793"),
        ("3.14159265358979323846", "3.14159265358979323846"), ("123456789.123456789", "123456789.123456789"),
        ("0.000001", "1e-06"), ("100000000000000000000", "1e+20"), ("1.0000000000000000", "1"),
        ("99999999999999.99", "99999999999999.99"), ("1234567890123456.5", "1234567890123456.5"),
        ("12345678901234567.5", "12345678901234567.5"),
    ]

    /// Texts that are not JSON, the first byte that cannot be right, and what should have been there.
    static let refused: [(text: String, offset: Int, reason: JSONParsingError.Reason)] =
        refusedStructures + refusedStrings + refusedNumbers

    private static let refusedStructures: [(text: String, offset: Int, reason: JSONParsingError.Reason)] = [
        ("", 0, .value), (" ", 1, .value), ("\u{FEFF}", 3, .value), ("[", 1, .value), ("]", 0, .value), ("{", 1, .key),
        ("}", 0, .value), (",", 0, .value), (":", 0, .value), ("[1", 2, .commaOrArrayEnd), ("[1,", 3, .value),
        ("[1,]", 3, .value), ("[,1]", 1, .value), ("[1,,2]", 3, .value), ("[1 2]", 3, .commaOrArrayEnd),
        ("[1}", 2, .commaOrArrayEnd), ("[1]]", 3, .endOfText), ("[1]x", 3, .endOfText), ("1 2", 2, .endOfText),
        ("[]{}", 2, .endOfText), ("{}}", 2, .endOfText), ("null,", 4, .endOfText), ("[:]", 1, .value),
        ("[\"a\":1]", 4, .commaOrArrayEnd),
        (#"{"a"}"#, 4, .colon), (#"{"a""#, 4, .colon), (#"{"a" 1}"#, 5, .colon), (#"{"a":}"#, 5, .value),
        (#"{"a":"#, 5, .value),
        (#"{"a":1"#, 6, .commaOrObjectEnd), (#"{"a":1,"#, 7, .key), (#"{"a":1,}"#, 7, .key),
        (#"{"a":1,,"b":2}"#, 7, .key),
        (#"{"a":1 "b":2}"#, 7, .commaOrObjectEnd), (#"{"a":1]"#, 6, .commaOrObjectEnd), (#"{,}"#, 1, .key),
        (#"{a:1}"#, 1, .key),
        (#"{'a':1}"#, 1, .key), (#"{1:1}"#, 1, .key), (#"{null:1}"#, 1, .key), (#"{[]:1}"#, 1, .key),
        (#"{"a"::1}"#, 5, .value),
        (#"{"a":1:2}"#, 6, .commaOrObjectEnd), (#"{"a"=1}"#, 4, .colon), ("nul", 0, .value), ("nulL", 0, .value),
        ("Null", 0, .value),
        ("nullx", 4, .endOfText), ("tru", 0, .value), ("True", 0, .value), ("TRUE", 0, .value),
        ("truee", 4, .endOfText),
        ("fals", 0, .value), ("falsy", 0, .value), ("undefined", 0, .value), ("[1,// no\n2]", 3, .value),
        ("/* no */ 1", 0, .value),
        ("# no\n1", 0, .value), ("1\u{00A0}", 1, .endOfText), ("\u{0B}1", 0, .value), ("\u{0C}1", 0, .value),
        ("1\u{0}", 1, .endOfText),
        ("\u{2060}1", 0, .value), ("a", 0, .value), ("*", 0, .value), ("<html>", 0, .value), ("[[[", 3, .value),
        ("[{\"a\":[", 7, .value), ("{\"a\":1}\n{\"a\":2}", 8, .endOfText), ("1\u{FEFF}", 1, .endOfText),
    ]

    private static let refusedStrings: [(text: String, offset: Int, reason: JSONParsingError.Reason)] = [
        ("\"", 1, .quote), ("\"a", 2, .quote), ("\"12345678", 9, .quote), ("'a'", 0, .value), ("\"é", 3, .quote),
        ("\"\t\"", 1, .escapedControlCharacter), ("\"\n\"", 1, .escapedControlCharacter),
        ("\"\u{0}\"", 1, .escapedControlCharacter),
        ("\"\u{1F}\"", 1, .escapedControlCharacter), ("\"12345678\n\"", 9, .escapedControlCharacter),
        ("\"aé\n\"", 4, .escapedControlCharacter), (#""\"#, 2, .escape), (#""\""#, 3, .quote), (#""\x41""#, 2, .escape),
        (#""\a""#, 2, .escape), (#""\'""#, 2, .escape), (#""\0""#, 2, .escape), (#""\U0041""#, 2, .escape),
        ("\"\\\n\"", 2, .escape),
        ("\"\\é\"", 2, .escape), (#""\u""#, 3, .hexadecimalDigits), (#""\u1""#, 4, .hexadecimalDigits),
        (#""\u12""#, 5, .hexadecimalDigits), (#""\u123""#, 6, .hexadecimalDigits),
        (#""\u123g""#, 6, .hexadecimalDigits),
        (#""\u 123""#, 3, .hexadecimalDigits), (#""\u+123""#, 3, .hexadecimalDigits),
        (#""\u123"#, 6, .hexadecimalDigits),
        (#""\uD83D""#, 1, .surrogatePair), (#""\uDE00""#, 1, .surrogatePair), (#""\uD83D\uD83D""#, 1, .surrogatePair),
        (#""\uDE00\uD83D""#, 1, .surrogatePair), (#""\uD83Dx""#, 1, .surrogatePair),
        (#""\uD83D\n""#, 1, .surrogatePair),
        (#""a\uD83D\u0041""#, 2, .surrogatePair), (#""\uD83D\u""#, 9, .hexadecimalDigits),
        (#""\uD83D\uDE0""#, 12, .hexadecimalDigits),
        (#"{"\uD83D":1}"#, 2, .surrogatePair), (#"{"a\q":1}"#, 4, .escape),
    ]

    private static let refusedNumbers: [(text: String, offset: Int, reason: JSONParsingError.Reason)] = [
        ("-", 1, .digit), ("+1", 0, .value), ("--1", 1, .digit), ("-+1", 1, .digit), ("- 1", 1, .digit),
        (".5", 0, .value),
        ("-.5", 1, .digit), ("1.", 2, .digit), ("1.e1", 2, .digit), ("0.", 2, .digit), ("01", 1, .endOfText),
        ("-01", 2, .endOfText),
        ("00", 1, .endOfText), ("[012]", 2, .commaOrArrayEnd), ("1e", 2, .digit), ("1e+", 3, .digit),
        ("1E-", 3, .digit),
        ("1e1.5", 3, .endOfText), ("1ee1", 2, .digit), ("1e--1", 3, .digit), ("0x1F", 1, .endOfText), ("0e", 2, .digit),
        ("1_000", 1, .endOfText), ("1,000", 1, .endOfText), ("1.2.3", 3, .endOfText), ("1a", 1, .endOfText),
        ("-a", 1, .digit),
        ("NaN", 0, .value), ("nan", 0, .value), ("Infinity", 0, .value), ("-Infinity", 1, .digit), ("inf", 0, .value),
        ("1f", 1, .endOfText), ("1 e2", 2, .endOfText), ("1/2", 1, .endOfText), ("１", 0, .value), ("[-]", 2, .digit),
    ]

    /// Bytes that are not UTF-8 (RFC 3629), inside of quotes, and the offset at which that shows.
    static let brokenUTF8: [(bytes: [UInt8], offset: Int)] = [
        ([0x80], 1), ([0xBF], 1), ([0xC0, 0x80], 1), ([0xC1, 0xBF], 1), ([0xC3], 1), ([0xC3, 0x28], 1),
        ([0xE0, 0x80, 0x80], 1),
        ([0xE0, 0x9F, 0xBF], 1), ([0xE2, 0x82], 1), ([0xE2, 0x28, 0xA1], 1), ([0xE2, 0x82, 0x28], 1),
        ([0xED, 0xA0, 0x80], 1),
        ([0xED, 0xBF, 0xBF], 1), ([0xF0, 0x80, 0x80, 0x80], 1), ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF0, 0x9F, 0x98], 1),
        ([0xF0, 0x28, 0x8C, 0xBC], 1), ([0xF0, 0x9F, 0x28, 0x80], 1), ([0xF0, 0x9F, 0x98, 0x28], 1),
        ([0xF4, 0x90, 0x80, 0x80], 1),
        ([0xF5, 0x80, 0x80, 0x80], 1), ([0xF8, 0x88, 0x80, 0x80, 0x80], 1), ([0xFE], 1), ([0xFF], 1),
        ([0x61, 0xFF], 2),
        ([0xC3, 0xA9, 0xC3], 3), ([0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0xFF], 9), ([0x5C, 0x6E, 0xFF], 3),
    ]
}
