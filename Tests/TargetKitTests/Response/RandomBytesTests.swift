// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

/// What a server can send, at random: `TARGETKIT_FUZZ` is the number of inputs for each reader.
@Suite("Random bytes", .throttled, .timeLimit(.minutes(30)))
struct RandomBytesTests {
    private static let count = RandomValues.count

    @Test("A key path of any characters, in any JSON, leads to a value or to an error")
    func keyPaths() {
        var random = RandomValues(seed: 6_021)
        let body = Response(statusCode: 200, data: Data(#"{"a":[1,{"b.c":"x"}],"\\":{"":[[]]},"0":-1e5}"#.utf8))
        let alphabet = Array(#"a.b\c0129-+ é{"#.utf8) + [0xFF]
        var found = 0
        for round in 0..<Self.count {
            let bytes: [UInt8] = random.bytes(upTo: 12, of: round % 4 == 0 ? [] : alphabet)
            let path = String(decoding: bytes, as: UTF8.self)
            if (try? body.json(atKeyPath: path)) != nil { found += 1 }
            if round % 8 == 0 {
                // The path's own bytes as the body, too.
                _ = try? Response(statusCode: 200, data: Data(bytes)).json(atKeyPath: path)
            }
        }
        #expect(found > 0 && found < Self.count)
    }

    @Test("Any bytes are a text, or a decoding error if some bytes are invalid in the charset")
    func charsets() throws {
        var random = RandomValues(seed: 6_023)
        let names = [
            "utf-8", "us-ascii", "iso-8859-1", "koi8-r", "windows-1252", "windows-1251", "utf-16", "utf-16le",
            "utf-16be",
            "utf-32", "shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "big5", "euc-kr", "none", "\"UTF-8\"", "'", "",
        ]
        let types =
            names.map { "text/plain; charset=\($0)" } + ["text/plain;;charset", "charset=utf-16", ";=;charset=="]
        for round in 0..<Self.count {
            let bytes: [UInt8] = random.bytes(upTo: 24, of: [])
            let type = types[round % types.count]
            let response = Response(statusCode: 200, data: Data(bytes), headers: ["Content-Type": type])
            // In these, each byte is a character. A byte order mark takes precedence.
            let isSingleByte = ["us-ascii", "iso-8859-1", "koi8-r", "windows-1252"].contains(where: type.hasSuffix)
            let isMarked = [[0xFF, 0xFE], [0xFE, 0xFF], [0xEF, 0xBB, 0xBF]].contains(where: bytes.starts)
            let text: String
            do {
                text = try response.string()
            } catch {
                if error.stage != .decoding || isSingleByte && !isMarked { throw error }
                continue
            }
            if text.utf8.count > 6 * bytes.count { Issue.record("\(type) \(bytes): \(text)") }
        }
    }

    @Test("A Content-Type of any characters does not keep the body from being read")
    func contentTypes() throws {
        var random = RandomValues(seed: 6_024)
        let alphabet = Array("charset=;; \"'utf-81gbk\\,/é".utf8)
        for _ in 0..<(Self.count / 10) {
            let type = "text/plain;" + String(decoding: random.bytes(upTo: 30, of: alphabet), as: UTF8.self)
            let response = Response(statusCode: 200, data: Data("tea".utf8), headers: ["Content-Type": type])
            if try response.string().isEmpty { Issue.record("\(type)") }
        }
    }
}
