// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import Testing

@testable import TargetKit

@Suite("BodyChannel", .timeLimit(.minutes(3)))
struct BodyChannelTests {
    private struct Broken: Error {}

    private let channel = BodyChannel(limit: 10)
    private let resumed = Tally()

    private func piece(_ count: Int) -> Data { Data(count: count) }

    private func next() async throws -> Int? {
        try await channel.next { resumed.add() }?.count
    }

    @Test("It requests a pause once, at its limit, and still keeps what arrives afterwards")
    func pause() async throws {
        #expect(channel.keep(piece(9)))
        #expect(!channel.isPaused)
        #expect(!channel.keep(piece(1)))
        #expect(channel.isPaused)
        #expect(channel.keep(piece(100)))
        channel.finish(.success(()))
        for count in [9, 1, 100, nil, nil] { #expect(try await next() == count) }
    }

    @Test("It resumes the sender once, when half of its limit or less is left")
    func goesOn() async throws {
        for count in [4, 1, 5] { _ = channel.keep(piece(count)) }
        #expect(try await next() == 4)
        #expect(resumed.value == 0)
        #expect(channel.isPaused)
        #expect(try await next() == 1)
        #expect(resumed.value == 1)
        #expect(!channel.isPaused)
        #expect(try await next() == 5)
        #expect(resumed.value == 1)
        // And all over again.
        #expect(!channel.keep(piece(10)))
        #expect(try await next() == 10)
        #expect(resumed.value == 2)
    }

    @Test("A limit of 0 holds one piece")
    func noLimit() async throws {
        let channel = BodyChannel(limit: 0)
        #expect(!channel.keep(piece(1)))
        #expect(try await channel.next { resumed.add() } == piece(1))
        #expect(resumed.value == 1)
    }

    @Test("A piece is refused at the limit, and accepted when it is offered again")
    func refused() async throws {
        let bytes = [UInt8](repeating: 7, count: 10)
        let give = { bytes.withUnsafeBytes { channel.receive($0) } }
        #expect(give())
        #expect(!give())
        #expect(channel.isPaused)
        #expect(try await next() == 10)
        #expect(resumed.value == 1)
        #expect(give())
        #expect(try await next() == 10)
    }

    @Test("A waiting reader gets the next piece, which does not count toward the limit, and then the end")
    func waits() async throws {
        let reading = Task { [try await next(), try await next(), try await next()] }
        await untilReaderWaits()
        #expect(channel.keep(piece(1_000)))
        #expect(channel.keep(Data()))
        channel.finish(.success(()))
        #expect(try await reading.value == [1_000, nil, nil])
        #expect(resumed.value == 0)
    }

    @Test("A failure follows the pieces, and is repeated")
    func failure() async throws {
        _ = channel.keep(piece(3))
        channel.finish(.failure(Broken()))
        #expect(try await next() == 3)
        for _ in 0..<2 { await #expect(throws: Broken.self) { try await next() } }
    }

    /// Turns of the pool in which the reader comes to its wait; without it the test is the same with less in it.
    private func untilReaderWaits() async {
        for _ in 0..<100 { await Task.yield() }
    }
}
