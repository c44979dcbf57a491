// SPDX-License-Identifier: MIT

import Foundation

extension ServerConnection {
    private static let coalescedSize = 64 << 10

    /// Runs steps until one waits.
    ///
    /// - Returns: Whether a response was finished, so that the next request can be read.
    func runSteps() -> Bool {
        while !isClosed {
            guard flush() else { return false }
            guard isResponding, hold == .none else { return false }
            if generate() { continue }
            gatherBytes()
            if output.count > 0 { continue }
            guard let step = steps.popLast() else {
                // After an upgrade, there is no end of a response.
                guard receiveUpgraded == nil else { return false }
                finishResponse()
                return true
            }
            run(step)
        }
        return false
    }

    /// Sends the queued bytes.
    ///
    /// - Returns: Whether the kernel accepted all of them.
    private func flush() -> Bool {
        guard !isWriteBlocked else { return false }
        switch output.flush(into: descriptor, counting: state.bytesSent) {
        case .done: return true
        case .blocked: isWriteBlocked = true
        case .broken: end(isReset: false)
        }
        return false
    }

    /// Combines adjacent steps that only send bytes, so that they are sent with one call.
    private func gatherBytes() {
        let isBodiless = request?.method == .head
        while output.count < Self.coalescedSize, let bytes = steps.last?.bytes(withoutBody: isBodiless) {
            if case .head(_, _, let headers)? = steps.last?.action, headers.has("close", in: "connection") {
                closesAfterResponse = true
            }
            output.append(bytes)
            steps.removeLast()
        }
    }

    private func run(_ step: TestServer.Step) {
        switch step.action {
        case .generate(let byteCount, let next): generation = (byteCount, 0, next)
        case .drip(let data, let size, let interval): drip(data, size: max(size, 1), interval: interval)
        case .wait(let duration): wait(duration)
        case .waitUntil(let condition): wait(until: condition)
        case .hang: hold = .forever
        case .stopReading: isReadingStopped = true
        case .resumeReading: isReadingStopped = false
        case .halfClose:
            Socket.shutdownWriting(descriptor)
            discardsInput = true
            hold = .forever
        case .close: finish(isReset: false)
        case .reset: finish(isReset: true)
        case .upgrade(let make): upgrade(by: make)
        // `gatherBytes` sends these.
        case .bytes, .head, .body, .chunk, .endChunks: break
        }
    }

    /// Appends the next chunk of a generated body.
    ///
    /// - Returns: Whether there was one.
    private func generate() -> Bool {
        guard let (byteCount, offset, next) = generation, offset < byteCount, request?.method != .head else {
            generation = nil
            return false
        }
        let piece = next(offset)
        let count = min(Int64(piece.count), byteCount - offset)
        output.append(piece.prefix(Int(count)))
        generation = count > 0 ? (byteCount, offset + count, next) : nil
        return count > 0
    }

    private func drip(_ data: Data, size: Int, interval: Duration) {
        guard request?.method != .head else { return }
        output.append(data.prefix(size))
        let rest = data.dropFirst(size)
        guard !rest.isEmpty else { return }
        steps.append(.drip(rest, chunkSize: size, every: interval))
        steps.append(.wait(for: interval))
    }

    private func wait(_ duration: Duration) {
        guard duration > .zero else { return }
        hold = .resumption
        token += 1
        delay = duration
    }

    private func wait(until condition: @escaping @Sendable () async -> Void) {
        hold = .resumption
        token += 1
        let (state, number, token) = (state, number, token)
        task = Task {
            await condition()
            state.post(.resume(connection: number, token: token))
        }
    }

    /// Continues after the wait of a step.
    func resume(token: Int) {
        guard token == self.token, hold == .resumption else { return }
        hold = .none
        advance()
    }

    private func finish(isReset: Bool) {
        let isResponse = request != nil
        end(isReset: isReset)
        // Counted last, so that a test that waits for the response finds the connection closed.
        if isResponse { state.responses.add() }
    }

    private func finishResponse() {
        isResponding = false
        task = nil
        // The steps of a new connection have no request.
        guard request != nil else { return }
        if closesAfterResponse || hasReadEnd { end(isReset: false) }
        state.responses.add()
        if isBodyComplete { request = nil }
    }
}
