// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("The cases of the Autobahn test suite", .throttled)
struct ProtocolCaseTests {
    @Test(
        "Each case has the required outcome, at both ends",
        arguments: ProtocolCase.all,
        [WebSocketRole.client, .server]
    )
    func outcome(test: ProtocolCase, role: WebSocketRole) {
        var reader = WebSocketReader(role: role)
        #expect(reader.result(of: test.bytes(for: role)) == test.expected)
    }

    @Test(
        "Each case has the required outcome when it arrives byte by byte",
        arguments: ProtocolCase.all,
        [WebSocketRole.client, .server]
    )
    func octets(test: ProtocolCase, role: WebSocketRole) {
        let bytes = test.bytes(for: role)
        var reader = WebSocketReader(role: role)
        #expect(reader.result(of: bytes.indices.map { bytes[$0...$0] }) == test.expected)
    }

    @Test(
        "Each case has the required outcome at every cut",
        arguments: ProtocolCase.all.filter { $0.bytes(for: .client).count < 300 },
        [WebSocketRole.client, .server]
    )
    func cuts(test: ProtocolCase, role: WebSocketRole) {
        let bytes = test.bytes(for: role)
        for cut in 0...bytes.count {
            var reader = WebSocketReader(role: role)
            let result = reader.result(of: [bytes[..<cut], bytes[cut...]])
            #expect(result == test.expected, "cut at \(cut)")
        }
    }

    @Test("Each failure has the close code that RFC 6455 asks for", arguments: ProtocolCase.all)
    func closeCodes(test: ProtocolCase) {
        guard let kind = test.expected.failure else { return }
        let isText = test.id.hasPrefix("6.") || test.id == "7.5.1"
        #expect(WebSocketError(kind, "").closeCode == (isText ? .invalidPayload : .protocolError))
    }

    @Test("Text is refused at its first wrong byte (6.4)", arguments: [WebSocketRole.client, .server])
    func firstWrongByte(role: WebSocketRole) {
        for test in ProtocolCase.text where test.id.hasPrefix("6.4") {
            let bytes = test.bytes(for: role)
            let maskSize = role == .server ? 4 : 0
            // The payload's byte 12, after the headers before it.
            let headers = test.id == "6.4.1" || test.id == "6.4.2" ? 2 : 1
            let position = 12 + headers * (2 + maskSize)
            var reader = WebSocketReader(role: role)
            #expect(reader.result(of: Array(bytes[..<position])) == ReadResult(), "\(test.id)")
            #expect(reader.result(of: [bytes[position]]).failure == .invalidUTF8, "\(test.id)")
        }
    }

    @Test("What is wrong in the first bytes of a frame is refused before its payload arrives")
    func earlyRefusal() {
        for test in ProtocolCase.all {
            let early: Set<WebSocketError.Reason> = [
                .reservedBits, .reservedOpcode, .wrongFragmentation, .fragmentedControlFrame, .controlFrameTooLong,
            ]
            guard let kind = test.expected.failure, early.contains(kind) else { continue }
            let bytes = test.bytes(for: .client)
            var reader = WebSocketReader(role: .client)
            var count = 0
            while count < bytes.count, reader.result(of: [bytes[count]]).failure == nil { count += 1 }
            // The first or second byte of a frame.
            let starts = test.frames.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.bytes.count) }
            #expect(starts.contains { count == $0 || count == $0 + 1 }, "\(test.id)")
        }
    }

    @Test("The list is complete")
    func count() {
        #expect(ProtocolCase.all.count == 16 + 9 + 7 + 10 + 11 + 12 + 132 + 13 + 24)
        #expect(Set(ProtocolCase.all.map(\.id)).count == ProtocolCase.all.count)
    }
}
