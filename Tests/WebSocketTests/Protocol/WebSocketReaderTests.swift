// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("Reading frames", .throttled)
struct WebSocketReaderTests {
    @Test(
        "A message of each size of length arrives whole",
        arguments: [0, 1, 125, 126, 127, 65535, 65536, 70000],
        [WebSocketRole.client, .server]
    )
    func sizes(size: Int, role: WebSocketRole) {
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 % 128) }
        let key: [UInt8]? = role == .server ? [1, 2, 3, 0xFF] : nil
        var reader = WebSocketReader(role: role)
        let bytes = RawFrame(2, payload, key: key).bytes + RawFrame(1, payload, key: key).bytes
        let result = reader.result(of: bytes)
        #expect(result == ReadResult(events: [.data(Data(payload)), .text(String(decoding: payload, as: UTF8.self))]))
    }

    @Test("What the writer writes, the reader of the other end reads", arguments: [WebSocketRole.client, .server])
    func roundTrip(role: WebSocketRole) throws {
        var writer = WebSocketWriter(role: role, fragmentSize: 1000)
        var output: [UInt8] = []
        let long = String(repeating: "größer ", count: 1000)
        writer.write(text: long, to: &output)
        writer.write(data: Data(long.utf8), to: &output)
        try writer.write(ping: Data([1, 2]), to: &output)
        try writer.write(pong: Data(), to: &output)
        try writer.write(close: .goingAway, reason: "tschüß", to: &output)
        var reader = WebSocketReader(role: role == .client ? .server : .client)
        let result = reader.result(of: output)
        #expect(
            result.events == [
                .text(long), .data(Data(long.utf8)), .ping(Data([1, 2])), .pong(Data()), .close(.goingAway, "tschüß"),
            ]
        )
        #expect(result.failure == nil)
    }
}
