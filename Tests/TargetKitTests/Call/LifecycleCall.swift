// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// One call of the model, made in one of the ways that there are.
struct LifecycleCall: Sendable {
    enum Way: CaseIterable, Sendable {
        case awaited
        case callback
        /// With a callback, and awaited by its handle as well.
        case response
        case events
        case stream
        case outcomes
    }

    let provider: Provider<LifecycleTarget>
    let target: LifecycleTarget
    let options: CallOptions
    let queue: DispatchQueue
    let ledger: LifecycleLedger
    let holds: LifecycleHolds
    /// How many events or pieces are read before the reader goes; from 3 on it reads all.
    let leavesAfter: Int

    /// Starts, and returns what cancels.
    func start(_ way: Way) -> LifecycleRound.Cancel {
        switch way {
        case .awaited:
            let task = Task { await report { try await provider.request(target, options: options).data } }
            return { task.cancel() }
        case .callback: return callback().cancel
        case .response:
            let handle = callback()
            Task { await report { try await handle.response().data } }
            return handle.cancel
        case .events:
            let task = Task { await report { try await readEvents() } }
            return { task.cancel() }
        case .stream:
            let task = Task { await report { try await readStream() } }
            return { task.cancel() }
        case .outcomes:
            let task = Task { await report { try await readOutcomes() } }
            return { task.cancel() }
        }
    }

    private struct Left: Error {}
    private struct Nothing: Error {}

    private func report(_ work: () async throws -> Data) async {
        do {
            ledger.end(target.serial, .body(try await work()))
        } catch is Left {
            ledger.end(target.serial, .left)
        } catch is Nothing {
            ledger.end(target.serial, .nothing)
        } catch {
            ledger.end(target.serial, error)
        }
    }

    private func callback() -> RequestHandle {
        let isOver = Locked(false)
        return provider.request(target, options: options, on: queue) { _ in
            if isOver.withLock({ $0 }) {
                ledger.change(target.serial) { $0.problems.append("progress after the completion") }
            }
        } completion: { result in
            isOver.withLock { $0 = true }
            ledger.end(target.serial, result)
        }
    }

    private func readEvents() async throws -> Data {
        var count = 0
        for try await event in provider.events(for: target, options: options) {
            if case .response(let response) = event { return response.data }
            count += 1
            if count > leavesAfter { throw leaving() }
        }
        throw Nothing()
    }

    private func readStream() async throws -> Data {
        let stream = try await provider.stream(target, options: options)
        if leavesAfter == 0 { await holds.waitRegardless() }
        var (body, count) = (Data(), 0)
        for try await piece in stream {
            body += piece
            count += 1
            if leavesAfter < 3, count > leavesAfter { throw leaving() }
        }
        return body
    }

    private func readOutcomes() async throws -> Data {
        for await outcome in provider.requests([target], maxConcurrent: 2) { return try outcome.result.get().data }
        // So it ends for a task that is cancelled.
        throw Left()
    }

    /// Going is a cancel of one's own.
    private func leaving() -> Left {
        ledger.change(target.serial) { $0.isCancelled = true }
        return Left()
    }
}
