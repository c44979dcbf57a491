// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKitOffline

@Suite("The readers of events", .throttled, .timeLimit(.minutes(2)))
struct EventReadersTests {
    @Test("All readers receive the events of several threads in the same order")
    func order() async throws {
        let readers = EventReaders<Int>()
        let streams = (1...3).map { _ in readers.stream() }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<2_000 { readers.send(thread * 10_000 + number) }
        }
        readers.finish()
        var received: [[Int]] = []
        for stream in streams {
            var events: [Int] = []
            for await event in stream { events.append(event) }
            received.append(events)
        }
        #expect(received[0].count == 16_000)
        #expect(received[1] == received[0])
        #expect(received[2] == received[0])
    }
}
