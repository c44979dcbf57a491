// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The model: what is known of each call, and so how it may end.
///
/// Cancelling many calls has a begin and an end. A call may end as cancelled when such a time and its own life overlap.
final class LifecycleLedger: Sendable {
    /// How a call has ended for its caller.
    enum Ending: Sendable, Equatable {
        case body(Data)
        case failure(TargetKitError.Stage, isTimeout: Bool, serial: Int?, cause: String)
        /// Its reader has gone.
        case left
        /// The events were over, with neither response nor error.
        case nothing
    }

    /// What calls are cancelled together by: a provider or a scope.
    fileprivate struct Domain: Sendable {
        var begunCount = 0
        var endedCount = 0
        var begunShutdownCount = 0
        var endedShutdownCount = 0
    }

    /// One call.
    struct Entry: Sendable {
        let fate: LifecycleFate
        let number: Int
        let way: LifecycleCall.Way
        let isShared: Bool
        let domains: [Int]
        let canTimeOut: Bool
        /// Whether it may end without the repetition of a flaky call, because there is no time left for the delay: its
        /// own, or that of a call with which it shares.
        let canMissRepetition: Bool
        let expectedEndings: Int
        fileprivate let domainsAtBegin: [Domain]
        var isCancelled = false
        var endings: [Ending] = []
        var sends = 0
        var receives = 0
        var processes = 0
        var finishes = 0
        var problems: [String] = []
    }

    /// The hooks of one context: that of a call or of a shared exchange.
    fileprivate struct Hooks: Sendable {
        var sends = 0
        var receives = 0
        var isProcessed = false
        var isFinished = false
    }

    /// A hook of a plugin.
    enum Hook: Sendable { case willSend, didReceive, process, didFinish }

    private struct State: Sendable {
        var hooks: [RequestContext.ID: Hooks] = [:]
        var entries: [Entry] = []
        var domains: [Domain] = []
        var expectedEndings = 0
        var problems: [String] = []
    }

    private let state = Locked(State())
    /// Grows with each ending.
    let endings = Tally()
    /// Signalled at each ending, so that threads can wait for it.
    let room = DispatchSemaphore(value: 0)

    var entries: [Entry] { state.withLock { $0.entries } }
    var expectedEndings: Int { state.withLock { $0.expectedEndings } }

    func makeDomain() -> Int {
        state.withLock { state in
            state.domains.append(Domain())
            return state.domains.count - 1
        }
    }

    /// A call is about to begin; returns its serial.
    func begin(
        _ fate: LifecycleFate,
        _ number: Int,
        by way: LifecycleCall.Way,
        in domains: [Int],
        canTimeOut: Bool,
        isShared: Bool,
        endings: Int
    ) -> Int {
        state.withLock { state in
            state.entries.append(
                Entry(
                    fate: fate,
                    number: number,
                    way: way,
                    isShared: isShared,
                    domains: domains,
                    canTimeOut: canTimeOut,
                    canMissRepetition: fate == .flaky && (canTimeOut || isShared),
                    expectedEndings: endings,
                    domainsAtBegin: domains.map { state.domains[$0] }
                )
            )
            state.expectedEndings += endings
            return state.entries.count - 1
        }
    }

    /// One more thing to wait for that is no call.
    func expectOneMore() {
        state.withLock { $0.expectedEndings += 1 }
    }

    func change(_ serial: Int, _ change: (inout Entry) -> Void) {
        state.withLock { change(&$0.entries[serial]) }
    }

    /// A hook was called; what is wrong with its place among the hooks of its context is reported.
    func note(_ hook: Hook, _ context: RequestContext) {
        guard let target = context.target as? LifecycleTarget else { return }
        state.withLock { state in
            var hooks = state.hooks[context.id] ?? Hooks()
            if let problem = hooks.add(hook) { state.entries[target.serial].problems.append(problem) }
            state.hooks[context.id] = hooks
        }
    }

    /// Writes down what is wrong with no call in particular.
    func report(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    /// Cancels everything of a domain.
    func cancelling(_ domain: Int, _ cancel: () -> Void) {
        state.withLock { $0.domains[domain].begunCount += 1 }
        cancel()
        state.withLock { $0.domains[domain].endedCount += 1 }
    }

    func beginShutdown(_ domain: Int) {
        state.withLock { state in
            state.domains[domain].begunCount += 1
            state.domains[domain].begunShutdownCount += 1
        }
    }

    func endShutdown(_ domain: Int) {
        state.withLock { state in
            state.domains[domain].endedCount += 1
            state.domains[domain].endedShutdownCount += 1
        }
    }

    /// A call has ended.
    func end(_ serial: Int, _ ending: Ending) {
        state.withLock { state in
            if let problem = Self.problem(of: ending, serial, state) {
                state.entries[serial].problems.append(problem)
            }
            state.entries[serial].endings.append(ending)
        }
        endings.add()
        room.signal()
    }

    func end(_ serial: Int, _ result: Result<Response, TargetKitError>) {
        switch result {
        case .success(let response): end(serial, .body(response.data))
        case .failure(let error): end(serial, error)
        }
    }

    func end(_ serial: Int, _ error: any Error) {
        guard let error = error as? TargetKitError else {
            return change(serial) { $0.problems.append("ended with a foreign error: \(error)") }
        }
        let isTimeout = (error.underlying as? URLError)?.code == .timedOut
        let target = error.target as? LifecycleTarget
        let cause = error.underlying.map { "\($0)" } ?? "no cause"
        end(serial, .failure(error.stage, isTimeout: isTimeout, serial: target?.serial, cause: cause))
    }

    /// What is wrong with an ending.
    private static func problem(of ending: Ending, _ serial: Int, _ state: State) -> String? {
        let entry = state.entries[serial]
        let domains = zip(entry.domains.map { state.domains[$0] }, entry.domainsAtBegin)
        let isCancelled = entry.isCancelled || domains.contains { $0.begunCount > $1.endedCount }
        switch ending {
        case .body(let data):
            let canSucceed = ![.fails, .truncated, .refused].contains(entry.fate)
            let isOwn = data == Data("\(entry.fate.rawValue)/\(entry.number)".utf8)
            return canSucceed && isOwn ? nil : "\(entry.fate) got a body: \(String(decoding: data, as: UTF8.self))"
        case .failure(let stage, let isTimeout, let owner, let cause):
            let isAllowed =
                switch stage {
                case .cancelled: isCancelled
                case .shutDown: domains.contains { $0.begunShutdownCount > $1.endedShutdownCount }
                case .transport:
                    isTimeout
                        ? entry.canTimeOut : entry.canMissRepetition || [.fails, .truncated].contains(entry.fate)
                case .status: entry.fate == .refused
                default: false
                }
            if !isAllowed { return "\(entry.fate) failed at \(stage): \(cause)" }
            return owner == serial ? nil : "the error names call \(owner.map(String.init) ?? "none")"
        case .left: return entry.isCancelled ? nil : "\(entry.fate) was left by nobody"
        case .nothing: return "\(entry.fate): neither a response nor an error"
        }
    }

    /// What is wrong once everything is at rest.
    func problems() -> [String] {
        state.withLock { state in
            let open = state.hooks.values.count { $0.sends != $0.receives || $0.isProcessed != $0.isFinished }
            return state.problems + (open == 0 ? [] : ["\(open) contexts lack a hook"])
        }
            + entries.enumerated().flatMap { serial, entry in
                var problems = entry.problems
                if entry.endings.count != entry.expectedEndings { problems.append("\(entry.endings.count) endings") }
                if entry.processes != 1 { problems.append("\(entry.processes) times process") }
                if entry.finishes != 1 { problems.append("\(entry.finishes) times didFinish") }
                if entry.sends != entry.receives {
                    problems.append("\(entry.sends) willSend, \(entry.receives) didReceive")
                }
                if entry.sends > (entry.fate == .flaky ? 2 : 1) { problems.append("\(entry.sends) willSend") }
                if Set(entry.endings.map(String.init(describing:))).count > 1 {
                    problems.append("two different endings")
                }
                let call = "call \(serial) (\(entry.fate)/\(entry.number), \(entry.traits))"
                return problems.map { "\(call): \($0)" }
            }
    }
}

extension LifecycleLedger.Entry {
    /// What a report says of a call beside its fate.
    fileprivate var traits: String {
        let sharing = isShared ? ", shared" : ""
        let timeout = canTimeOut ? ", with a timeout" : ""
        return "\(way)\(sharing)\(timeout), \(sends) sent, \(endings.count) endings"
    }
}

extension LifecycleLedger.Hooks {
    /// Adds a hook; what is wrong with its place, if anything.
    fileprivate mutating func add(_ hook: LifecycleLedger.Hook) -> String? {
        let isRunning = sends > receives
        switch hook {
        case .willSend:
            sends += 1
            return isRunning || isProcessed ? "willSend out of turn" : nil
        case .didReceive:
            receives += 1
            return isRunning && !isProcessed ? nil : "didReceive out of turn"
        case .process:
            defer { isProcessed = true }
            return isRunning || isProcessed ? "process out of turn" : nil
        case .didFinish:
            defer { isFinished = true }
            return isRunning || !isProcessed || isFinished ? "didFinish out of turn" : nil
        }
    }
}

/// Tells the other end which attempt it is. Without it a provider has nobody with a say in its requests.
struct LifecycleMark: Plugin {
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        var request = request
        request.setValue(String(context.attempt), forHTTPHeaderField: "X-Attempt")
        return request
    }
}

/// Writes the hooks into the ledger, and tries flaky calls again.
struct LifecyclePlugin: Plugin {
    let ledger: LifecycleLedger

    func willSend(_ request: URLRequest, context: RequestContext) {
        ledger.note(.willSend, context)
        change(context) { $0.sends += 1 }
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        ledger.note(.didReceive, context)
        change(context) { $0.receives += 1 }
    }

    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard let target = context.target as? LifecycleTarget, target.fate == .flaky, context.attempt == 0 else {
            return .doNotRetry
        }
        return .retry(after: target.serial.isMultiple(of: 2) ? .zero : .seconds(1))
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        ledger.note(.process, context)
        change(context) { $0.processes += 1 }
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        ledger.note(.didFinish, context)
        change(context) { $0.finishes += 1 }
    }

    private func change(_ context: RequestContext, _ change: (inout LifecycleLedger.Entry) -> Void) {
        guard let target = context.target as? LifecycleTarget else { return }
        ledger.change(target.serial, change)
    }
}
