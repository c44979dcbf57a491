// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A task of URLSession whose completions and events a test calls, in any order and number.
private final class ScriptedTask: WebSocketTask {
    typealias Completion = @Sendable ((any Error)?) -> Void
    typealias Reception = @Sendable (Result<WebSocketMessage, any Error>) -> Void

    let receptions = Recorder<Reception>()
    let sends = Recorder<Completion>()
    let pings = Recorder<Completion>()
    /// The codes of the close frames; 0 for `cancel()`.
    let closings = Recorder<UInt16>()

    func receive(_ completion: @escaping Reception) { receptions.append(completion) }
    func send(_ message: WebSocketMessage, completion: @escaping Completion) { sends.append(completion) }
    func ping(completion: @escaping Completion) { pings.append(completion) }
    func cancel(_ closing: WebSocketClosing) { closings.append(closing.code) }
    func cancel() { closings.append(0) }
}

@Suite("A WebSocket on a task of URLSession", .throttled, .timeLimit(.minutes(1)))
struct WebSocketTaskTests {
    private let task = ScriptedTask()
    private let clock = ManualClock()
    private let session: WebSocketTaskSession
    private static let notConnected = NSError(domain: NSPOSIXErrorDomain, code: Int(ENOTCONN))
    private static let lost = URLError(.networkConnectionLost)
    private static let switching = ResponseHead(statusCode: 101)

    init() throws {
        session = WebSocketTaskSession(try #require(URL(string: "https://example.com/feed")), clock: clock)
    }

    /// A WebSocket whose handshake succeeded.
    private func open() async throws -> WebSocketTaskSession {
        _ = try await session.open {
            session.attach(task)
            session.didOpen(Self.switching, subprotocol: "chat")
        }
        return session
    }

    /// The code of the error with which work fails; `nil` if it succeeds or is cancelled.
    private static func code(_ work: @escaping @Sendable () async throws -> Void) async -> URLError.Code? {
        do {
            try await work()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    // MARK: - The handshake

    @Test("The handshake returns the head of the response and the subprotocol")
    func opening() async throws {
        let session = try await open()
        #expect(session.subprotocol == "chat")
        #expect(session.closing == nil)
    }

    @Test("A refused handshake returns the head of the response, whatever the error of the task")
    func refused() async throws {
        let head = try await session.open {
            session.attach(task)
            session.didComplete(ResponseHead(statusCode: 401), error: URLError(.badServerResponse))
        }
        #expect(head.statusCode == 401)
    }

    @Test("A handshake ends with the error of the task", arguments: [nil, switching] as [ResponseHead?])
    func failedHandshake(head: ResponseHead?) async {
        let code = await Self.code { [session, task] in
            _ = try await session.open {
                session.attach(task)
                session.didComplete(head, error: URLError(.secureConnectionFailed))
            }
        }
        #expect(code == .secureConnectionFailed)
    }

    @Test(
        "A server that isn't trusted, a timeout and a shutdown end the handshake with their error",
        arguments: [false, true]
    )
    func endedHandshake(isBeforeTask: Bool) async throws {
        let code = await Self.code { [session, task] in
            _ = try await session.open {
                if !isBeforeTask { session.attach(task) }
                session.fail(URLError(.serverCertificateUntrusted))
                if isBeforeTask { session.attach(task) }
                session.didComplete(nil, error: URLError(.cancelled))
            }
        }
        #expect(code == .serverCertificateUntrusted)
        #expect(task.closings.elements == [0])
    }

    @Test("The timeout of the handshake doesn't end an open WebSocket")
    func lateTimeout() async throws {
        let session = try await open()
        session.failHandshake(URLError(.timedOut))
        #expect(task.closings.elements == [])
        async let message = session.receive()
        try await task.receptions.element(0)(.success(.text("1")))
        #expect(try await message == .text("1"))
    }

    @Test("Cancelling the caller ends the handshake and the task")
    func cancelledHandshake() async throws {
        let opening = Task { [session, task] in try await session.open { session.attach(task) } }
        opening.cancel()
        await #expect(throws: URLError.self) { try await opening.value }
        session.attach(task)
        #expect(try await task.closings.element(0) == 0)
    }

    // MARK: - The end of the task

    @Test("The end of the task ends every call that waits, although the task calls none of their completions")
    func endOfTask() async throws {
        let session = try await open()
        let calls = [
            Task { await Self.code { _ = try await session.receive() } },
            Task { await Self.code { try await session.send(.text("1")) } },
            Task { await Self.code { try await session.ping() } },
        ]
        _ = try await (task.receptions.element(0), task.sends.element(0), task.pings.element(0))
        let closing = Task { await session.close(WebSocketClosing(code: 1000)) }
        _ = try await task.closings.element(0)
        session.didComplete(Self.switching, error: Self.lost)
        for call in calls { _ = await call.value }
        await closing.value
    }

    @Test("A lost connection ends each call with an error, and later ones at once")
    func lostConnection() async throws {
        let session = try await open()
        let calls = [
            Task { await Self.code { _ = try await session.receive() } },
            Task { await Self.code { try await session.send(.text("1")) } },
            Task { await Self.code { try await session.ping() } },
        ]
        _ = try await (task.receptions.element(0), task.sends.element(0), task.pings.element(0))
        session.didComplete(Self.switching, error: Self.lost)
        for call in calls { #expect(await call.value == .networkConnectionLost) }
        #expect(await Self.code { _ = try await session.receive() } == .networkConnectionLost)
        #expect(await Self.code { try await session.ping() } == .networkConnectionLost)
        await session.close(WebSocketClosing(code: 1000))
        #expect(session.closing == nil)
    }

    @Test("A completion that is called again, or after the end, has no effect")
    func repeatedCompletions() async throws {
        let session = try await open()
        let ping = Task { await Self.code { try await session.ping() } }
        let completion = try await task.pings.element(0)
        completion(nil)
        completion(Self.notConnected)
        #expect(await ping.value == nil)
        let send = Task { await Self.code { try await session.send(.text("1")) } }
        let sent = try await task.sends.element(0)
        session.didComplete(Self.switching, error: Self.lost)
        session.didComplete(Self.switching, error: nil)
        sent(nil)
        sent(Self.notConnected)
        #expect(await send.value == .networkConnectionLost)
    }

    // MARK: - Closing

    @Test("A close frame that follows the error of a call is a regular end", arguments: [true, false])
    func closedByServer(isErrorFirst: Bool) async throws {
        let session = try await open()
        let reading = Task { try await session.receive() }
        let receive = try await task.receptions.element(0)
        if isErrorFirst { receive(.failure(Self.notConnected)) }
        session.didClose(WebSocketClosing(code: 1001, reason: "bye"))
        if !isErrorFirst { receive(.failure(Self.notConnected)) }
        #expect(try await reading.value == nil)
        #expect(session.closing == WebSocketClosing(code: 1001, reason: "bye"))
        session.didComplete(Self.switching, error: nil)
        #expect(try await session.receive() == nil)
    }

    @Test("Messages before the close frame are read")
    func messagesBeforeClose() async throws {
        let session = try await open()
        session.didClose(WebSocketClosing(code: 1000))
        let reading = Task { try await session.receive() }
        try await task.receptions.element(0)(.success(.text("last")))
        #expect(try await reading.value == .text("last"))
        let ended = Task { try await session.receive() }
        try await task.receptions.element(1)(.failure(Self.notConnected))
        #expect(try await ended.value == nil)
    }

    @Test("Without an event, the error of a call ends the WebSocket after five seconds")
    func noEvent() async throws {
        let session = try await open()
        let reading = Task { await Self.code { _ = try await session.receive() } }
        let ping = Task { await Self.code { try await session.ping() } }
        _ = try await task.pings.element(0)
        try await task.receptions.element(0)(.failure(Self.notConnected))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await reading.value == .networkConnectionLost)
        #expect(await ping.value == .networkConnectionLost)
        #expect(try await task.closings.element(0) == 0)
    }

    @Test("close() sends its code once, ends the reader at once, and returns after five seconds at most")
    func closeTimeout() async throws {
        let session = try await open()
        let reading = Task { try await session.receive() }
        _ = try await task.receptions.element(0)
        let closing = Task { await session.close(WebSocketClosing(code: 4001)) }
        #expect(try await task.closings.element(0) == 4001)
        #expect(try await reading.value == nil)
        await #expect(throws: URLError.self) { try await session.send(.text("1")) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        await closing.value
        #expect(task.closings.elements == [4001, 0])
        #expect(try await session.receive() == nil)
    }

    @Test("Cancelling the task that closes ends its wait")
    func cancelledClose() async throws {
        let session = try await open()
        let closing = Task { await session.close(WebSocketClosing(code: 1000)) }
        _ = try await task.closings.element(0)
        closing.cancel()
        await closing.value
    }

    @Test("Cancelling the WebSocket ends each call at once, with the code in a close frame")
    func cancelled() async throws {
        let session = try await open()
        let calls = [
            Task { _ = try await session.receive() },
            Task { try await session.send(.text("1")) },
            Task { try await session.ping() },
        ]
        _ = try await (task.receptions.element(0), task.sends.element(0), task.pings.element(0))
        session.cancel(WebSocketClosing(code: 1001))
        for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        #expect(task.closings.elements == [1001])
    }

    @Test("Releasing the connection closes the WebSocket")
    func release() async throws {
        var connection: WebSocketTaskConnection? = WebSocketTaskConnection(try await open())
        #expect(connection?.subprotocol == "chat")
        connection = nil
        #expect(task.closings.elements == [1001])
    }

    // MARK: - Calls

    @Test("A heartbeat's wait for a pong that never comes can be cancelled")
    func cancelledPing() async throws {
        let session = try await open()
        let ping = Task { try await session.ping() }
        let completion = try await task.pings.element(0)
        ping.cancel()
        await #expect(throws: CancellationError.self) { try await ping.value }
        completion(nil)
    }

    @Test("A message that arrives after its reader was cancelled is for the next reader")
    func cancelledReader() async throws {
        let session = try await open()
        let reading = Task { try await session.receive() }
        let receive = try await task.receptions.element(0)
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        receive(.success(.text("1")))
        #expect(try await session.receive() == .text("1"))
        #expect(task.receptions.elements.count == 1)
    }

    @Test("A message over the limit ends the WebSocket with 1009")
    func tooLong() async throws {
        let session = try await open()
        let reading = Task { await Self.code { _ = try await session.receive() } }
        try await task.receptions.element(0)(
            .failure(NSError(domain: NSPOSIXErrorDomain, code: Int(EMSGSIZE)))
        )
        #expect(await reading.value == .dataLengthExceedsMaximum)
        #expect(task.closings.elements == [1009])
    }

    @Test("A hundred random orders of completions and events leave no call that waits", arguments: 0..<100)
    func randomOrder(seed: UInt64) async throws {
        let session = try await open()
        let calls = (0..<3).flatMap { _ in
            [
                Task { _ = await Self.code { _ = try await session.receive() } },
                Task { _ = await Self.code { try await session.send(.text("1")) } },
                Task { _ = await Self.code { try await session.ping() } },
            ]
        }
        let (receive, send, ping) = try await (
            task.receptions.element(0), task.sends.element(0), task.pings.element(0)
        )
        var events: [@Sendable () async -> Void] = [
            { receive(.success(.text("1"))) }, { receive(.failure(Self.notConnected)) },
            { send(nil) }, { send(Self.lost) }, { ping(nil) }, { ping(Self.lost) },
            { session.didClose(WebSocketClosing(code: 1000)) },
            { session.didComplete(Self.switching, error: Self.lost) },
            { calls[0].cancel() }, { calls[2].cancel() },
        ]
        if seed.isMultiple(of: 3) { events.append { session.cancel(WebSocketClosing(code: 1001)) } }
        var generator = SeededGenerator(seed: seed)
        await withTaskGroup(of: Void.self) { group in
            for event in events.shuffled(using: &generator) { group.addTask { await event() } }
        }
        for call in calls { await call.value }
    }
}
