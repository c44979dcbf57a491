// SPDX-License-Identifier: MIT

import Foundation

extension ServerConnection {
    private static let coalescedSize = 64 << 10

    /// Runs steps as far as they go; says whether an answer was finished, so that the next request may be read.
    func play() -> Bool {
        while !isClosed {
            guard flush() else { return false }
            guard isAnswering, hold == .none else { return false }
            if generate() { continue }
            gatherBytes()
            if output.count > 0 { continue }
            guard let step = steps.popLast() else {
                finishAnswer()
                return true
            }
            run(step)
        }
        return false
    }

    /// Whether all bytes are with the kernel.
    private func flush() -> Bool {
        guard !isWriteBlocked else { return false }
        switch output.flush(into: descriptor, counting: core.sent) {
        case .done: return true
        case .blocked: isWriteBlocked = true
        case .broken: end(isReset: false)
        }
        return false
    }

    /// Puts the steps that are nothing but bytes together, up to a size that is worth a call.
    private func gatherBytes() {
        let isBodiless = request?.method == "HEAD"
        while output.count < Self.coalescedSize, let bytes = steps.last?.bytes(withoutBody: isBodiless) {
            if case .head(_, _, let headers)? = steps.last, headers.has("close", in: "connection") {
                closesAfterAnswer = true
            }
            output.append(bytes)
            steps.removeLast()
        }
    }

    private func run(_ step: TestServer.Step) {
        switch step {
        case .generate(let byteCount, let next): generation = (byteCount, 0, next)
        case .drip(let data, let size, let interval): drip(data, max(size, 1), interval)
        case .wait(let duration): wait(duration)
        case .pause(let gate): wait(for: gate)
        case .hang: hold = .forever
        case .stopReading: isReadingStopped = true
        case .resumeReading: isReadingStopped = false
        case .halfClose:
            Socket.shutdownWriting(descriptor)
            discardsInput = true
            hold = .forever
        case .close: finish(isReset: false)
        case .reset: finish(isReset: true)
        default: break
        }
    }

    /// Asks for the next piece of a made body; says whether there was one.
    private func generate() -> Bool {
        guard let (byteCount, offset, next) = generation, offset < byteCount, request?.method != "HEAD" else {
            generation = nil
            return false
        }
        let piece = next(offset)
        let count = min(Int64(piece.count), byteCount - offset)
        output.append(piece.prefix(Int(count)))
        generation = count > 0 ? (byteCount, offset + count, next) : nil
        return count > 0
    }

    private func drip(_ data: Data, _ size: Int, _ interval: Duration) {
        output.append(data.prefix(size))
        let rest = data.dropFirst(size)
        guard !rest.isEmpty else { return }
        steps.append(.drip(rest, chunkSize: size, every: interval))
        steps.append(.wait(interval))
    }

    private func wait(_ duration: Duration) {
        guard duration > .zero else { return }
        hold = .resumption
        token += 1
        delay = duration
    }

    private func wait(for gate: Gate) {
        hold = .resumption
        token += 1
        let (core, number, token) = (core, number, token)
        task = Task {
            guard (try? await gate.waitUnlessCancelled()) != nil else { return }
            core.post(.resume(connection: number, token: token))
        }
    }

    /// The wait of a step is over.
    func resume(token: Int) {
        guard token == self.token, hold == .resumption else { return }
        hold = .none
        pump()
    }

    private func finish(isReset: Bool) {
        let isReply = request != nil
        end(isReset: isReset)
        // Counted last, so that who waits for the reply finds the connection closed.
        if isReply { core.replies.add() }
    }

    private func finishAnswer() {
        isAnswering = false
        task = nil
        // A greeting has no request.
        guard request != nil else { return }
        if closesAfterAnswer || hasReadEnd { end(isReset: false) }
        core.replies.add()
        if isBodyComplete { request = nil }
    }
}
