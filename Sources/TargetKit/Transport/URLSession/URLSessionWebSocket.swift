// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import Foundation

/// A WebSocket of URLSession, which implements the protocol itself and responds to pings. Releasing it closes it.
final class URLSessionWebSocket: MessageConnection {
    private let events: URLSessionWebSocketEvents

    private init(_ events: URLSessionWebSocketEvents) {
        self.events = events
    }

    deinit {
        events.task?.cancel(with: .goingAway, reason: nil)
    }

    var subprotocol: String? { events.subprotocol }

    var closing: WebSocketClosing? { events.closing }

    func limitMessages(to byteCount: Int) {
        events.task?.maximumMessageSize = byteCount
    }

    func receive() async throws -> WebSocketMessage? {
        guard let task = events.task else { throw URLError(.networkConnectionLost) }
        do {
            let message = try await withTaskCancellationHandler {
                try await task.receive()
            } onCancel: {
                task.cancel(with: .goingAway, reason: nil)
            }
            switch message {
            case .string(let text): return .text(text)
            case .data(let data): return .data(data)
            @unknown default: throw URLError(.cannotParseResponse)
            }
        } catch {
            try Task.checkCancellation()
            if events.closing != nil { return nil }
            throw error
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        guard let task = events.task else { throw URLError(.networkConnectionLost) }
        switch message {
        case .text(let text): try await task.send(.string(text))
        case .data(let data): try await task.send(.data(data))
        }
    }

    func ping() async throws {
        guard let task = events.task else { throw URLError(.networkConnectionLost) }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            task.sendPing { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    func close(_ closing: WebSocketClosing) async {
        cancel(closing)
        await events.waitForEnd()
    }

    func cancel(_ closing: WebSocketClosing) {
        let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(closing.code)) ?? .normalClosure
        events.task?.cancel(with: code, reason: closing.reason.isEmpty ? nil : Data(closing.reason.utf8))
    }
}

extension URLSessionWebSocket {
    /// The fields that URLSession sets itself.
    private static let ownFields = [
        "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions",
    ]

    /// Performs the handshake of a WebSocket.
    ///
    /// - Parameter idleTimeout: The timeout in seconds of a call without its own timeout.
    static func open(
        _ call: URLSessionCall,
        idleTimeout: TimeInterval,
        in session: URLSession,
        with delegate: SessionDelegate
    ) async throws -> TransportResponse {
        var request = call.request
        for name in ownFields { request.setValue(nil, forHTTPHeaderField: name) }
        request.url = try address(of: call.url)
        // URLSession also applies it to the open WebSocket.
        request.timeoutInterval = URLSessionCall.longestTimeout
        let events = URLSessionWebSocketEvents()
        let timeout = Task {
            try await Task.sleep(for: call.timeout ?? .seconds(min(idleTimeout, URLSessionCall.longestTimeout)))
            events.end(URLError(.timedOut))
        }
        defer { timeout.cancel() }
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                events.open(continuation)
                delegate.begin(request, events, in: session)
            }
        } onCancel: {
            events.end(URLError(.cancelled))
        }
        guard head.statusCode == 101 else { return TransportResponse(head: head, body: .data(Data())) }
        return TransportResponse(head: head, body: .connection(.messages(URLSessionWebSocket(events))))
    }

    /// The URL with the scheme `ws` for `http`, and `wss` for `https`.
    private static func address(of url: URL) throws -> URL {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { throw URLError(.badURL) }
        parts.scheme = parts.scheme?.lowercased() == "https" ? "wss" : "ws"
        parts.user = nil
        parts.password = nil
        guard let address = parts.url else { throw URLError(.badURL) }
        return address
    }
}

/// The events of a task for a WebSocket.
final class URLSessionWebSocketEvents: NSObject, Sendable {
    private struct State: Sendable {
        var task: URLSessionWebSocketTask?
        var opening: CheckedContinuation<ResponseHead, any Error>?
        var failure: (any Error)?
        var subprotocol: String?
        var closing: WebSocketClosing?
        var isEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var onEnd: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var task: URLSessionWebSocketTask? { state.withLock(\.task) }
    var subprotocol: String? { state.withLock(\.subprotocol) }
    var closing: WebSocketClosing? { state.withLock(\.closing) }

    /// Sets what is resumed at the end of the handshake.
    func open(_ continuation: CheckedContinuation<ResponseHead, any Error>) {
        let failure = state.withLock { state in
            if state.failure == nil { state.opening = continuation }
            return state.failure
        }
        if let failure { continuation.resume(throwing: failure) }
    }

    /// Starts the task, unless the handshake has already failed.
    ///
    /// - Parameter onEnd: Called when the task ends.
    func attach(_ task: URLSessionWebSocketTask, onEnd: @escaping @Sendable () -> Void) {
        let isFailed = state.withLock { state in
            state.task = task
            state.onEnd = onEnd
            return state.failure != nil
        }
        task.delegate = self
        if isFailed { task.cancel() }
        task.resume()
    }

    /// Ends the handshake with an error, if it is in progress.
    func end(_ error: URLError) {
        let (opening, task) = state.withLock { state in
            if state.failure == nil { state.failure = error }
            return (state.opening.take(), state.task)
        }
        guard let opening else { return }
        task?.cancel()
        opening.resume(throwing: error)
    }

    /// Waits until the task has ended.
    func waitForEnd() async {
        await withCheckedContinuation { waiter in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.waiters.append(waiter) }
                return state.isEnded
            }
            if isEnded { waiter.resume() }
        }
    }
}

extension URLSessionWebSocketEvents: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol subprotocol: String?
    ) {
        let opening = state.withLock { state in
            state.subprotocol = subprotocol
            return state.opening.take()
        }
        let head = webSocketTask.response.flatMap { $0 as? HTTPURLResponse }.map(ResponseHead.init)
        opening?.resume(returning: head ?? ResponseHead(statusCode: 101))
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        let text = reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let code = UInt16(exactly: closeCode.rawValue) ?? 1005
        state.withLock { $0.closing = WebSocketClosing(code: code, reason: text) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (opening, waiters, onEnd) = state.withLock { state in
            state.isEnded = true
            defer { (state.waiters, state.onEnd) = ([], nil) }
            return (state.opening.take(), state.waiters, state.onEnd)
        }
        if let response = task.response as? HTTPURLResponse, response.statusCode != 101 {
            opening?.resume(returning: ResponseHead(response))
        } else {
            opening?.resume(throwing: error ?? URLError(.networkConnectionLost))
        }
        for waiter in waiters { waiter.resume() }
        onEnd?()
    }
}
#endif
