// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

@Suite("BodyChannel", .throttled, .timeLimit(.minutes(3)))
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
        for count in [10, 100, nil, nil] { #expect(try await next() == count) }
    }

    @Test("It resumes the sender once, when half of its limit or less is left")
    func goesOn() async throws {
        for count in [11, 9, 5] { _ = channel.keep(piece(count)) }
        #expect(try await next() == 11)
        #expect(resumed.value == 0)
        #expect(channel.isPaused)
        #expect(try await next() == 14)
        #expect(resumed.value == 1)
        #expect(!channel.isPaused)
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

    @Test("What was received together reaches the reader together", arguments: [true, false])
    func joined(isReaderWaiting: Bool) async throws {
        let give = { (count: Int) in [UInt8](repeating: 7, count: count).withUnsafeBytes { channel.receive($0) } }
        if isReaderWaiting {
            let reading = Task { [try await next(), try await next()] }
            while !Task.isCancelled, !channel.isReaderWaiting { await Task.yield() }
            for count in [4, 3, 2] { #expect(give(count)) }
            channel.flush()
            while !Task.isCancelled, channel.readByteCount < 9 { await Task.yield() }
            #expect(give(1))
            // The end passes on what has not been flushed.
            channel.finish(.success(()))
            #expect(try await reading.value == [9, 1])
        } else {
            for count in [4, 3, 2] { #expect(give(count)) }
            #expect(try await next() == 9)
        }
        #expect(resumed.value == 0)
    }

    @Test("A reader that waits makes room for what exceeds the limit")
    func roomForReader() async throws {
        let give = { (count: Int) in [UInt8](repeating: 7, count: count).withUnsafeBytes { channel.receive($0) } }
        let reading = Task { try await next() }
        while !Task.isCancelled, !channel.isReaderWaiting { await Task.yield() }
        #expect(give(10))
        #expect(give(6))
        #expect(try await reading.value == 10)
        #expect(!channel.isPaused)
        #expect(give(6))
        #expect(!give(6))
        #expect(try await next() == 12)
        #expect(resumed.value == 1)
    }

    @Test("A waiting reader gets the next piece, which does not count toward the limit, and then the end")
    func waits() async throws {
        let reading = Task { [try await next(), try await next(), try await next()] }
        while !Task.isCancelled, !channel.isReaderWaiting { await Task.yield() }
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

    /// Receives bytes up to a limit.
    private final class Receiver: BodyReceiver {
        private let bytes = Locked<[UInt8]>([])
        private let resume = Locked<(@Sendable () -> Void)?>(nil)
        let limit: Int

        init(limit: Int) { self.limit = limit }

        var count: Int { bytes.withLock(\.count) }
        var hasBegun: Bool { resume.withLock { $0 != nil } }

        func begin(resume: @escaping @Sendable () -> Void) { self.resume.withLock { $0 = resume } }

        func receive(_ bytes: UnsafeRawBufferPointer, canWait: Bool) throws -> Bool {
            if bytes.first == 0xFF { throw Broken() }
            if canWait, count >= limit { return false }
            self.bytes.withLock { $0 += bytes }
            return true
        }
    }

    /// Starts to drain the channel, and waits until the receiver has what is there.
    private func drain(into receiver: Receiver, expecting count: Int) async -> Task<Void, any Error> {
        let drain = Task { [channel, resumed] in try await channel.drain(into: receiver) { resumed.add() } }
        while !Task.isCancelled, !receiver.hasBegun || receiver.count < count { await Task.yield() }
        // Until the receiver is connected, the channel stores what arrives.
        while !Task.isCancelled, channel.isPaused { await Task.yield() }
        return drain
    }

    @Test("A receiver gets what is there and what follows, and the end of the body ends it")
    func drained() async throws {
        let receiver = Receiver(limit: 40)
        let give = { (count: Int) in [UInt8](repeating: 7, count: count).withUnsafeBytes { channel.receive($0) } }
        #expect(give(12))
        #expect(!give(1))
        let drain = await drain(into: receiver, expecting: 12)
        // The channel is no longer paused a moment before it says so.
        try await resumed.wait(for: 1)
        #expect(resumed.value == 1)
        while receiver.count < 40 { #expect(give(1)) }
        #expect(!give(1))
        channel.finish(.success(()))
        try await drain.value
        #expect(receiver.count == 40)
        let late = Receiver(limit: 1)
        try await channel.drain(into: late) {}
        #expect(late.count == 0)
    }

    @Test("An error of the body, or of the receiver, ends the receiving", arguments: [true, false])
    func brokenDrain(isOfBody: Bool) async throws {
        let drain = await drain(into: Receiver(limit: 40), expecting: 0)
        if isOfBody {
            channel.finish(.failure(Broken()))
        } else {
            let bytes: [UInt8] = [0xFF]
            while !Task.isCancelled, bytes.withUnsafeBytes({ channel.receive($0) }) { await Task.yield() }
        }
        await #expect(throws: Broken.self) { try await drain.value }
    }

    @MainActor
    @Test("A reader that always finds a piece gives its actor turns", arguments: [true, false])
    func turns(isOfLines: Bool) async throws {
        let channel = BodyChannel(limit: 1)
        for _ in 0..<100 { _ = channel.keep(Data("a line\n".utf8)) }
        channel.finish(.success(()))
        let body = ResponseBody(from: channel, cancel: {})
        var hasHadTurn = false
        let other = Task { hasHadTurn = true }
        /// The time that a view takes for a piece.
        func show() {
            let start = ContinuousClock.now
            while start.duration(to: .now) < .milliseconds(10) {}
        }
        if isOfLines {
            var lines = ResponseStream(statusCode: 200, body: body).lines().makeAsyncIterator()
            while !hasHadTurn, try await lines.next(isolation: MainActor.shared) != nil { show() }
        } else {
            var pieces = body.makeAsyncIterator()
            while !hasHadTurn, try await pieces.next(isolation: MainActor.shared) != nil { show() }
        }
        #expect(hasHadTurn)
        await other.value
    }

    @Test("A channel that receives the body of another one resumes its sender, and waits for its reader at the end")
    func receivesBody() async throws {
        let reader = BodyChannel(limit: 1, receiveLimit: 8)
        let receiving = Task {
            try await channel.drain(into: reader) { resumed.add() }
            return await reader.waitUntilRead()
        }
        let reading = Task {
            while reader.readByteCount < 80 { _ = try await reader.next(resume: reader.resumeSender) }
        }
        let bytes = [UInt8](repeating: 7, count: 8)
        var offered = 0
        while offered < 10 {
            if bytes.withUnsafeBytes({ channel.receive($0) }) { offered += 1 } else { await Task.yield() }
            channel.flush()
        }
        channel.finish(.success(()))
        #expect(try await receiving.value)
        try await reading.value
        #expect(reader.readByteCount == 80)
    }
}
