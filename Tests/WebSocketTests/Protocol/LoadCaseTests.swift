// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("The cases of the Autobahn test suite with large messages and many", .throttled, .timeLimit(.minutes(5)))
struct LoadCaseTests {
    @Test("Each message arrives, and its echo arrives at the server", arguments: LoadCase.all)
    func echo(test: LoadCase) throws {
        let message = test.message
        let frames = test.frames(of: message)
        var (client, server) = (WebSocketReader(role: .client), WebSocketReader(role: .server))
        var writer = WebSocketWriter(role: .client, fragmentSize: 1 << 20)
        var (received, echoed) = (0, 0)
        for _ in 0..<test.count {
            var output: [UInt8] = []
            for start in stride(from: 0, to: frames.count, by: test.chopSize) {
                let part = frames[start..<min(frames.count, start + test.chopSize)]
                for event in client.result(of: [part]).events {
                    received += event == message ? 1 : 0
                    switch event {
                    case .text(let text): writer.write(text: text, to: &output)
                    case .data(let data): writer.write(data: data, to: &output)
                    default: Issue.record("\(event) was not sent")
                    }
                }
            }
            for event in server.result(of: output).events { echoed += event == message ? 1 : 0 }
        }
        #expect(received == test.count)
        #expect(echoed == test.count)
    }

    @Test("A message that is sent in slices arrives at the server", arguments: LoadCase.all.filter { $0.count == 1 })
    func slices(test: LoadCase) {
        let message = test.message
        let outgoing: WebSocketOutgoingMessage? =
            switch message {
            case .text(let text): WebSocketOutgoingMessage(.text(text))
            case .data(let data): WebSocketOutgoingMessage(.data(data))
            default: nil
            }
        guard var outgoing else { return }
        // As the case's frames and parts are cut, at least 1 KiB.
        let sizes = (fragment: max(1 << 10, min(test.fragmentSize, 1 << 20)), slice: max(1 << 10, test.chopSize))
        var writer = WebSocketWriter(role: .client, fragmentSize: sizes.fragment)
        var server = WebSocketReader(role: .server)
        var events: [WebSocketEvent] = []
        while !outgoing.isWritten {
            var slice: [UInt8] = []
            writer.write(&outgoing, upTo: sizes.slice, to: &slice)
            events += server.result(of: slice).events
        }
        #expect(events.count == 1)
        let isSame = events.first == message
        #expect(isSame)
    }

    @Test("The list is complete")
    func count() {
        #expect(LoadCase.all.count == 2 * (6 + 9 + 6 + 6))
        #expect(Set(LoadCase.all.map(\.id)).count == LoadCase.all.count)
    }
}
