// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitResilience

/// The bytes are those of RFC 8484 §4.1.1 and §4.2.2, and of responses made by hand after RFC 1035 §4.
@Suite("DNS messages", .throttled)
struct DNSMessageTests {
    private func data(_ hex: String) -> Data {
        Data(hex.split(separator: " ").compactMap { UInt8($0, radix: 16) })
    }

    private let host = "www.example.com"

    private let response =
        "00 00 81 80 00 01 00 01 00 00 00 00 03 77 77 77 07 65 78 61 6d 70 6c 65 03 63 6f 6d 00 00 1c 00 "
        + "01 c0 0c 00 1c 00 01 00 00 0e 7d 00 10 20 01 0d b8 ab cd 00 12 00 01 00 02 00 03 00 04"

    @Test(
        "The query for an address has the bytes of RFC 8484's example",
        arguments: ["www.example.com", "www.example.com."]
    )
    func query(host: String) {
        let query = DNSMessage.query(.a, of: host)
        #expect(query?.base64EncodedString() == "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")
    }

    @Test(
        "A host that can't be a name has no query",
        arguments: [
            "", ".", "a..b", String(repeating: "a", count: 64) + ".example", String(repeating: "a.", count: 127) + "ab",
        ]
    )
    func noName(host: String) {
        #expect(DNSMessage.query(.aaaa, of: host) == nil)
    }

    @Test("The response of RFC 8484's example has its address and TTL")
    func answer() throws {
        let answer = try DNSMessage.answer(data(response), to: .aaaa, of: host)
        #expect(answer == .init(addresses: ["2001:db8:abcd:12:1:2:3:4"], seconds: 3709))
    }

    @Test(
        "A response to another question is an error",
        arguments: [("www.example.com", 28, true), ("WWW.Example.com.", 28, true), ("example.com", 28, false)]
            + [("www.example.com", 1, false), ("a.www.example.com", 28, false), ("", 28, false)]
    )
    func otherQuestion(host: String, type: UInt16, isAnswer: Bool) throws {
        let type = try #require(DNSMessage.RecordType(rawValue: type))
        #expect(((try? DNSMessage.answer(data(response), to: type, of: host)) != nil) == isAnswer)
    }

    @Test("The smallest TTL of an alias and its addresses counts")
    func alias() throws {
        let alias = "01 61 00 00 05 00 01 00 00 00 3c 00 02 c0 0c"
        let address = "c0 0c 00 01 00 01 00 00 01 2c 00 04 7f 00 00 01"
        let answer = try DNSMessage.answer(
            data("00 00 81 80 00 00 00 02 00 00 00 00 \(alias) \(address)"),
            to: .a,
            of: host
        )
        #expect(answer == .init(addresses: ["127.0.0.1"], seconds: 60))
    }

    @Test(
        "A missing name has no addresses, and other failures are errors",
        arguments: [(0x83, true), (0x82, false), (0x85, false)]
    )
    func codes(code: Int, isAnswer: Bool) {
        let answer = try? DNSMessage.answer(
            data("00 00 81 \(String(code, radix: 16)) 00 00 00 00 00 00 00 00"),
            to: .a,
            of: host
        )
        #expect(answer == (isAnswer ? .init() : nil))
    }

    @Test("A message that is cut off or has random bytes is an error or an answer, and never a trap")
    func malformed() {
        let whole = data(response)
        for count in 0..<whole.count {
            #expect(throws: DNSMessage.Malformed.self) {
                try DNSMessage.answer(whole.prefix(count), to: .aaaa, of: host)
            }
        }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try? DNSMessage.answer(bytes, to: .aaaa, of: host)
        }
        // A question is not an answer.
        #expect(throws: DNSMessage.Malformed.self) {
            try DNSMessage.answer(DNSMessage.query(.a, of: host) ?? Data(), to: .a, of: host)
        }
    }
}
