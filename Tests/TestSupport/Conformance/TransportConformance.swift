// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The promises of ``Transport``, each as a check that any transport can be put to. No test library is needed:
///
/// ```swift
/// @Test("My transport keeps the promises", .timeLimit(.minutes(1)), arguments: TransportConformance.promises)
/// func conforms(promise: TransportPromise) async throws {
///     try await promise.check(MyTransport())
/// }
/// ```
///
/// Each check starts a ``LoopbackServer`` of its own and ends within half a minute, also when the transport hangs.
public enum TransportConformance {
    /// All promises of a transport that reaches the network.
    public static let promises = requests + bodies + responses + oneExchange + failures + cancelling + reporting

    /// Those that a transport without a network can keep, a stub for one.
    public static let promisesWithoutNetwork = promises.filter { !$0.needsNetwork }
}

/// One promise of ``Transport``.
public struct TransportPromise: Sendable, CustomStringConvertible {
    /// The promise, as a sentence.
    public let description: String
    /// Whether keeping it takes a connection to a server on this machine.
    public let needsNetwork: Bool
    private let body: @Sendable (any Transport) async throws -> Void

    init(
        _ description: String,
        needsNetwork: Bool = true,
        check body: @escaping @Sendable (any Transport) async throws -> Void
    ) {
        self.description = description
        self.needsNetwork = needsNetwork
        self.body = body
    }

    /// Puts a transport to the check.
    ///
    /// - Throws: ``BrokenPromise``, saying what was expected and what happened.
    public func check(_ transport: any Transport) async throws {
        do {
            try await Deadline.run(.seconds(30)) { [body] in try await body(transport) }
        } catch let broken as BrokenPromise {
            throw BrokenPromise("\(description): \(broken.description)")
        } catch {
            throw BrokenPromise("\(description): \(error)")
        }
    }
}

/// What was expected of a transport, and what happened.
public struct BrokenPromise: Error, CustomStringConvertible, Sendable {
    /// The expectation and the event.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw BrokenPromise(text()) }
}

/// Expects two values to be the same.
func expect<Value: Equatable>(_ what: String, _ value: Value, is expected: Value) throws {
    try expect(value == expected, "\(what) was \(brief(value)), expected \(brief(expected))")
}

private func brief(_ value: some Any) -> String {
    let text = String(reflecting: value)
    return text.count > 300 ? text.prefix(300) + "…" : text
}

/// A limit in real time, for code under test that may never come back.
enum Deadline {
    /// Runs the body; when it has not returned in time, leaves it behind, cancelled.
    ///
    /// - Throws: what the body throws; ``BrokenPromise`` when the time is up.
    static func run<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = TestLock<CheckedContinuation<Value, any Error>?>(nil)
        let finish = { @Sendable (outcome: Result<Value, any Error>) in
            let waiting = result.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            waiting?.resume(with: outcome)
        }
        return try await withCheckedThrowingContinuation { continuation in
            result.withLock { $0 = continuation }
            let work = Task {
                do { finish(.success(try await body())) } catch { finish(.failure(error)) }
            }
            Task {
                try? await Task.sleep(for: limit)
                work.cancel()
                finish(.failure(BrokenPromise("it did not come back within \(limit)")))
            }
        }
    }

    /// What the body returns; `nil` when it has not returned in time.
    static func value<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        try? await run(limit, body)
    }
}
