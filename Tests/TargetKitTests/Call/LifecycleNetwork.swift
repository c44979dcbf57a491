// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the other end does with a call.
enum LifecycleFate: String, CaseIterable, Sendable {
    case quick
    /// The connection is reset.
    case fails
    /// The body breaks off.
    case truncated
    /// Status 500, which is an error for these targets.
    case refused
    /// Answers when the model lets it.
    case held
    /// The same, and takes no notice of a cancel.
    case stubborn
    /// Answers when the clock is moved on.
    case delayed
    /// Fails at the first attempt, answers at the second; where attempts are not marked it answers at once.
    case flaky
}

/// A call of the model. The serial is its own; two with the same fate and number ask for the same.
struct LifecycleTarget: TargetType {
    let baseURL: URL
    let serial: Int
    let number: Int
    let fate: LifecycleFate

    var path: RequestPath { "/\(fate.rawValue)/\(number)" }
    var validation: StatusValidation { .successCodes }
    /// What the other end echoes.
    var expectedBody: Data { Data("\(fate.rawValue)/\(number)".utf8) }
}

/// Places at which calls stand until the model lets them go on.
final class LifecycleHolds: Sendable {
    private struct State: Sendable {
        var isOpenForGood = false
        var gates: [Gate] = []
    }

    private let state = Locked(State())

    /// A gate that is opened later; `nil` when all are open.
    func makeGate() -> Gate? {
        state.withLock { state in
            if state.isOpenForGood { return nil }
            let gate = Gate()
            state.gates.append(gate)
            return gate
        }
    }

    func wait() async throws { try await makeGate()?.waitUnlessCancelled() }

    func waitRegardless() async { await makeGate()?.wait() }

    func openOne(_ random: inout SeededGenerator) {
        let pick = random.next()
        state.withLock { state -> Gate? in
            guard !state.gates.isEmpty else { return nil }
            let index = Int(pick % UInt64(state.gates.count))
            state.gates.swapAt(index, state.gates.count - 1)
            return state.gates.removeLast()
        }?.open()
    }

    func openAll(forGood: Bool = false) {
        let gates = state.withLock { state in
            state.isOpenForGood = state.isOpenForGood || forGood
            defer { state.gates = [] }
            return state.gates
        }
        for gate in gates { gate.open() }
    }
}

/// A clock on which every sleep ends when the model lets it.
struct LifecycleClock: Clock {
    let holds: LifecycleHolds

    var now: ManualClock.Instant { ManualClock.Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await holds.wait()
        try Task.checkCancellation()
    }
}

/// Sends by another transport, and says when its provider has let go of it.
final class LifecycleTransport: Transport {
    private let inner: any Transport
    private let released: Tally

    init(_ inner: any Transport, released: Tally) {
        self.inner = inner
        self.released = released
    }

    deinit { released.add() }

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await inner.send(request) }
}

/// The other end without a network.
struct LifecycleStub: Transport {
    let holds: LifecycleHolds

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (fate, body) = request.asked
        guard case .stream = request.destination else {
            return try await StubTransport { _ in
                try await prelude(fate, request)
                if fate == .truncated { throw URLError(.networkConnectionLost) }
                return .response(status: fate == .refused ? 500 : 200, data: body)
            }.send(request)
        }
        try await prelude(fate, request)
        let head = ResponseHead(statusCode: fate == .refused ? 500 : 200, headers: [:])
        return TransportResponse(head: head, body: .stream(pieces(of: body, fate)))
    }

    private func prelude(_ fate: LifecycleFate, _ request: TransportRequest) async throws {
        switch fate {
        case .quick, .truncated, .refused: break
        case .fails: throw URLError(.networkConnectionLost)
        case .held: try await holds.wait()
        case .stubborn: await holds.waitRegardless()
        case .delayed: try await LifecycleClock(holds: holds).sleep(for: .seconds(1))
        case .flaky: if request.isFirstAttempt { throw URLError(.networkConnectionLost) }
        }
    }

    private func pieces(of body: Data, _ fate: LifecycleFate) -> ResponseBody {
        let rest = Locked(body)
        return ResponseBody {
            if fate == .held || fate == .delayed { try await holds.wait() }
            try Task.checkCancellation()
            let piece = rest.withLock { rest in
                defer { rest = rest.dropFirst(3) }
                return Data(rest.prefix(3))
            }
            if fate == .truncated, piece.count < 3 { throw URLError(.networkConnectionLost) }
            return piece.isEmpty ? nil : piece
        }
    }
}

extension TransportRequest {
    fileprivate var isFirstAttempt: Bool { urlRequest.value(forHTTPHeaderField: "X-Attempt") == "0" }

    fileprivate var asked: (fate: LifecycleFate, body: Data) {
        let path = urlRequest.url?.path.dropFirst() ?? ""
        let fate = path.split(separator: "/").first.flatMap { LifecycleFate(rawValue: String($0)) }
        return (fate ?? .quick, Data(path.utf8))
    }
}

extension TestServer {
    /// The other end over a network with faults.
    convenience init(holds: LifecycleHolds) throws {
        try self.init { request in
            let path = request.path.dropFirst()
            let body = Data(path.utf8)
            let whole = TestServer.Response.text(String(path))
            let head = HTTPHeaders([.init(name: "Content-Length", value: String(body.count))])
            switch path.split(separator: "/").first.flatMap({ LifecycleFate(rawValue: String($0)) }) ?? .quick {
            case .quick: return whole
            case .fails: return .reset
            case .truncated: return [.head(status: 200, headers: head), .body(body.dropLast()), .close]
            case .refused: return .status(500)
            case .held:
                guard let gate = holds.makeGate() else { return whole }
                return [
                    .head(status: 200, headers: head), .body(Data(body.prefix(3))), .pause(until: gate),
                    .body(Data(body.dropFirst(3))),
                ]
            case .stubborn, .delayed:
                await holds.waitRegardless()
                return whole
            case .flaky: return request.headers["x-attempt"] == "0" ? .reset : whole
            }
        }
    }
}
