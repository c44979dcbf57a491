// SPDX-License-Identifier: MIT
import TargetKit

/// The state of a WebSocket of a task: who waits for what, and how it ended.
///
/// An error of a call doesn't tell how the WebSocket ended. When the server closes it, the error of a socket that isn't
/// connected precedes the close frame. Therefore, the events of the task decide.
struct WebSocketTaskState: Sendable {
    typealias Waiter = CheckedContinuation<WebSocketMessage?, any Error>
    typealias Ready = (waiter: Waiter, result: Result<WebSocketMessage?, any Error>)

    enum Operation: Sendable {
        case receive
        case send(WebSocketMessage)
        case ping
        /// Waits for the end.
        case end
    }

    let url: URL
    var task: (any WebSocketTask)?
    /// The caller that waits for the end of the handshake.
    var opening: CheckedContinuation<ResponseHead, any Error>?
    var isOpen = false
    var subprotocol: String?
    /// The close frame of the server.
    var received: WebSocketClosing?
    /// Whether this side started to close the WebSocket.
    var isClosing = false
    /// How the WebSocket ended: an error, or a closing handshake.
    private(set) var end: Result<Void, any Error>?
    /// The timer that ends the task if no event does.
    var timer: Task<Void, Never>?

    private var waiters: [UInt64: (operation: Operation, waiter: Waiter)] = [:]
    private var lastNumber: UInt64 = 0
    /// The calls that wait for a message, in order.
    private var receivers: [UInt64] = []
    /// Whether the task was asked for a message.
    private var isReceiving = false
    /// Whether the task has no more messages.
    private var isDrained = false
    /// A message whose reader was cancelled.
    private var message: WebSocketMessage?
    /// The first error of a call, for the case that no event tells more.
    private var failure: (any Error)?

    init(_ url: URL) {
        self.url = url
    }

    /// The number of the next call.
    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a call that waits; returns its result if that is known.
    mutating func add(
        _ operation: Operation,
        number: UInt64,
        _ waiter: Waiter
    ) -> Result<WebSocketMessage?, any Error>? {
        if Task.isCancelled { return .failure(CancellationError()) }
        if case .receive = operation, let message = message.take() { return .success(message) }
        if let result = result(of: operation) { return result }
        waiters[number] = (operation, waiter)
        if case .receive = operation { receivers.append(number) }
        return nil
    }

    mutating func remove(_ number: UInt64) -> Waiter? {
        receivers.removeAll { $0 == number }
        return waiters.removeValue(forKey: number)?.waiter
    }

    /// Removes the calls whose results are known.
    mutating func takeReady() -> [Ready] {
        let ready = waiters.compactMap { number, call in
            result(of: call.operation).map { (number, Ready(call.waiter, $0)) }
        }
        for (number, _) in ready { _ = remove(number) }
        return ready.map(\.1)
    }

    private func result(of operation: Operation) -> Result<WebSocketMessage?, any Error>? {
        switch operation {
        case .end: return end.map { _ in .success(nil) }
        case .receive:
            if let end { return end.map { nil } }
            return isClosing || received != nil && isDrained ? .success(nil) : nil
        case .send, .ping:
            if case .failure(let error) = end { return .failure(error) }
            guard isClosing || received != nil else { return nil }
            return .failure(error(.networkConnectionLost, "the WebSocket is closed, or is being closed"))
        }
    }
}

// MARK: - Messages

extension WebSocketTaskState {
    /// The task to ask for a message, if a call waits for one and it hasn't been asked.
    mutating func taskToReceive() -> (any WebSocketTask)? {
        guard !receivers.isEmpty, !isReceiving, !isDrained, end == nil, let task else { return nil }
        isReceiving = true
        return task
    }

    /// Returns the call that waits for the message. Without one, the message is stored for the next one, unless this
    /// side closes the WebSocket.
    mutating func take(_ message: WebSocketMessage) -> Waiter? {
        isReceiving = false
        if let first = receivers.first { return remove(first) }
        if end == nil, !isClosing { self.message = message }
        return nil
    }

    /// Notes that a call of the task failed, after which the task has no more messages.
    mutating func fail(_ error: any Error) {
        (isReceiving, isDrained) = (false, true)
        if failure == nil { failure = error }
    }
}

// MARK: - The end

extension WebSocketTaskState {
    /// Notes the close frame of the server. The messages before it have arrived if the task was asked for another one.
    mutating func close(_ closing: WebSocketClosing) {
        received = closing
        if isReceiving { isDrained = true }
    }

    /// Ends the WebSocket with an error, unless it already ended.
    mutating func end(with error: any Error) {
        if end == nil { end = .failure(error) }
    }

    /// Ends the WebSocket because its task ended, unless it already ended.
    mutating func end(taskError: (any Error)?) {
        guard end == nil else { return }
        let isRegular = received != nil || isClosing
        end = isRegular ? .success(()) : .failure(lost(taskError ?? failure))
    }

    /// The error of a connection that was lost, for the caller.
    func lost(_ cause: (any Error)?) -> any Error {
        if let cause = cause as? URLError { return cause.redacted }
        return error(.networkConnectionLost, "the connection was lost")
    }

    func error(_ code: URLError.Code, _ message: String) -> URLError {
        .failure(code, message: message, for: url)
    }
}
