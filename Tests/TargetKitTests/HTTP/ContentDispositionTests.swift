// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Names of files from a server", .throttled)
struct ContentDispositionTests {
    @Test(
        "The name of a Content-Disposition field, or none",
        arguments: [
            (#"attachment; filename="report.pdf""#, "report.pdf"),
            ("attachment; filename=report.pdf", "report.pdf"),
            ("ATTACHMENT; FILENAME=report.pdf", "report.pdf"),
            ("inline;filename=report.pdf", "report.pdf"),
            ("attachment ; filename = \"report.pdf\" ;", "report.pdf"),
            ("attachment;; filename=a.txt", "a.txt"),
            (#"attachment; filename="a \"b\".txt""#, "a _b_.txt"),
            (#"attachment; filename="a;b=c.txt""#, "a;b=c.txt"),
            ("attachment; filename=two words.txt", "two words.txt"),
            (#"attachment; filename="€.txt""#, "€.txt"),
            ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
            ("attachment; filename*=utf-8'en'%E2%82%AC.txt", "€.txt"),
            ("attachment; filename*=ISO-8859-1''%A3.txt", "£.txt"),
            ("attachment; filename=\"caf\u{F7E9}.txt\"", "café.txt"),
            (#"attachment; filename="EURO.txt"; filename*=UTF-8''%e2%82%ac.txt"#, "€.txt"),
            (#"attachment; filename*=UTF-8''%e2%82%ac.txt; filename="EURO.txt""#, "€.txt"),
            (#"attachment; filename="EURO.txt"; filename*=UTF-8''%ff"#, "EURO.txt"),
            (#"attachment; filename="EURO.txt"; filename*=KOI8-R''%d0"#, "EURO.txt"),
            (#"attachment; filename="EURO.txt"; filename*=UTF-8''%e2%8"#, "EURO.txt"),
            (#"attachment; filename="EURO.txt"; filename*=UTF-8''%+1"#, "EURO.txt"),
            (#"attachment; filename="EURO.txt"; filename*="UTF-8''x.txt""#, "EURO.txt"),
            (#"attachment; filename="EURO.txt"; filename*=UTF-8'x.txt"#, "EURO.txt"),
            (#"attachment; filename="50%25.txt""#, "50%25.txt"),
            (#"attachment; filename="""#, nil),
            ("attachment; filename=", nil),
            (#"attachment; filename="open"#, nil),
            (#"attachment; filename="a"b"#, nil),
            ("attachment; filename=a; filename=b", nil),
            ("attachment, filename=a", nil),
            ("attachment; =a", nil),
            ("attachment; filename", nil),
            ("attachment", nil),
            ("; filename=a", nil),
            ("", nil),
            (#"filename="a""#, nil),
            (#"attachment; filename="..""#, nil),
            (#"attachment; filename="/""#, nil),
            (#"attachment; filename="a/..""#, nil),
        ] as [(String, String?)]
    )
    func names(_ field: String, _ name: String?) {
        #expect(ContentDisposition.fileName(in: field) == name)
    }

    @Test(
        "No name leaves its folder, hides itself, or surprises the user",
        arguments: [
            ("../../etc/passwd", "passwd"), (#"..\..\windows\system.ini"#, "system.ini"), ("/etc/passwd", "passwd"),
            (#"C:\temp\a.txt"#, "a.txt"), ("C:a.txt", "C_a.txt"), ("a/b\\c.txt", "c.txt"), (".htaccess", "htaccess"),
            ("...a...", "a"), (" a.txt ", "a.txt"), ("a.txt. .", "a.txt"), ("a\u{0}b.txt", "ab.txt"),
            ("a\r\nb.txt", "ab.txt"), ("a\tb.txt", "ab.txt"), ("invoice\u{202E}fdp.exe", "invoicefdp.exe"),
            ("a\u{200B}b\u{FEFF}.txt", "ab.txt"), ("a\u{85}\u{2028}b", "ab"), ("a*b?c<d>e|f:g\"h", "a_b_c_d_e_f_g_h"),
            ("CON", "_CON"), ("nul.txt", "_nul.txt"), ("com1.tar.gz", "_com1.tar.gz"), ("LPT9 .txt", "_LPT9 .txt"),
            ("console.txt", "console.txt"), ("~/a", "a"), ("a%2Fb", "a%2Fb"), ("%2e%2e", "%2e%2e"),
            ("日本語.txt", "日本語.txt"), ("👩‍👩‍👧.png", "👩👩👧.png"), ("", nil), ("   ", nil), ("..", nil), (".", nil),
            ("/", nil), ("a/", nil), ("\u{202E}", nil), ("..\u{200B}..", nil),
        ] as [(String, String?)]
    )
    func safe(_ text: String, _ name: String?) {
        #expect(SafeFileName.make(text) == name)
    }

    @Test("A long name is cut between characters, and keeps its extension")
    func long() throws {
        let name = try #require(SafeFileName.make(String(repeating: "é", count: 300) + ".tar"))
        #expect(name.utf8.count <= 200)
        #expect(name.hasPrefix("éé"))
        #expect(name.hasSuffix("é.tar"))
        let families = try #require(SafeFileName.make(String(repeating: "日", count: 300)))
        #expect(families == String(repeating: "日", count: 66))
        #expect(SafeFileName.make("a." + String(repeating: "b", count: 300))?.utf8.count == 200)
    }
}
