// SPDX-License-Identifier: MIT
import TargetKit
import TestSupport
import Testing

@Suite("Content-Range", .throttled)
struct ContentRangeTests {
    @Test(
        "A range of bytes, of a length that may be unknown",
        arguments: [
            ("bytes 0-0/1", 0...0, 1), ("bytes 42-1233/1234", 42...1233, 1234), ("bytes 42-1233/*", 42...1233, nil),
            ("bytes */1234", nil, 1234), ("bytes */0", nil, 0), ("BYTES 0-1/2", 0...1, 2), (" bytes  0-1/2 ", 0...1, 2),
            ("bytes 0-9223372036854775806/9223372036854775807", 0...Int64.max - 1, .max),
        ] as [(String, ClosedRange<Int64>?, Int64?)]
    )
    func valid(_ field: String, _ bytes: ClosedRange<Int64>?, _ length: Int64?) throws {
        let range = try #require(ContentRange(field))
        #expect(range.bytes == bytes)
        #expect(range.completeLength == length)
    }

    @Test(
        "Anything else is not a range",
        arguments: [
            "", "bytes", "bytes ", "bytes=0-1/2", "bytes0-1/2", "items 0-1/2", "bytes 1-0/2", "bytes 0-2/2",
            "bytes 0-1",
            "bytes 0-1/", "bytes /2", "bytes -1/2", "bytes 0-/2", "bytes */*", "bytes */", "bytes 0-1/x",
            "bytes +0-1/2",
            "bytes 0--1/2", "bytes 0 - 1/2", "bytes 0-1/ 2", "bytes 0-1/2/3", "bytes 0-1,3-4/5", "bytes 0x0-0x1/2",
            "bytes 0-9223372036854775808/*", "bytes ٠-١/٢",
        ]
    )
    func invalid(_ field: String) {
        #expect(ContentRange(field) == nil)
    }
}
