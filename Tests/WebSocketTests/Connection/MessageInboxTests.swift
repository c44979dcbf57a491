// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

@Suite("The messages that wait", .throttled, .timeLimit(.minutes(1)))
struct MessageInboxTests {
    private let inbox = MessageInbox()

    @Test("A cancelled task that reads does not end another one's wait")
    func cancelledReader() async throws {
        let reader = Task { try await inbox.next() }
        while !inbox.hasReceiver { await Task.yield() }
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await inbox.next()
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await inbox.add([.text("tea")])
        #expect(try await reader.value == .text("tea"))
    }

    @Test("A reader that is always behind leaves no places of consumed messages")
    func behind() async throws {
        await inbox.add(Array(repeating: .text("first"), count: 10))
        for number in 0..<20_000 {
            await inbox.add([.text("\(number)")])
            _ = try await inbox.next()
        }
        #expect(inbox.storedCount < 5_000)
    }

    @Test("Compressed messages wait in their compressed form while earlier ones are not consumed")
    func compressed() async throws {
        let deflate = PerMessageDeflate()
        var writer = WebSocketWriter(role: .server, deflate: deflate)
        var bytes: [UInt8] = []
        let message = Data(count: 4 << 20)
        for _ in 0..<12 { writer.write(data: message, to: &bytes) }
        let connection = PreparedConnection(bytes)
        let session = FrameSession(connection, .init(deflate: deflate), WebSocketLimits(), clock: ContinuousClock())
        let running = Task { await session.run() }
        while !session.inbox.isFull { await Task.yield() }
        #expect(session.inbox.storedCount < 10)
        for _ in 0..<12 {
            let received = try await session.inbox.next()
            #expect(received == .data(message))
        }
        session.cancel(.goingAway)
        await running.value
    }
}

/// A connection that has received bytes at once.
private final class PreparedConnection: ByteConnection {
    private let bytes: Locked<[UInt8]?>
    private let closed = Expectation()

    init(_ bytes: [UInt8]) {
        self.bytes = Locked(bytes)
    }

    func read() async throws -> [UInt8]? {
        if let bytes = bytes.withLock({ $0.take() }) { return bytes }
        await closed.wait()
        return nil
    }

    func write(_ bytes: [UInt8], completion: @escaping @Sendable ((any Error)?) -> Void) {
        completion(nil)
    }

    func close(sending bytes: [UInt8]) {
        closed.fulfill()
    }
}
