// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The requirements of ``Transport``, each as a check that any transport can be put to. No test library is needed:
///
/// ```swift
/// @Test("My transport keeps the requirements", .timeLimit(.minutes(3)), arguments: TransportConformance.requirements)
/// func conforms(requirement: TransportRequirement) async throws {
///     try await requirement.check(MyTransport())
/// }
/// ```
///
/// Each check starts a ``TestServer`` of its own and ends within half a minute, also when the transport hangs.
///
/// A transport that cannot make a server wait for a slow reader leaves out ``holdingBack``, and one that streams no body,
/// ``streaming``.
///
/// A transport that answers by itself, a stub or a cache for one, is put to ``answers`` in their place.
public enum TransportConformance {
    /// All requirements of a transport that reaches the network.
    public static let requirements =
        requests + bodies + responses + oneExchange + failures + cancelling + reporting
        + streaming
}

/// One requirement of ``Transport``.
public struct TransportRequirement: Sendable, CustomStringConvertible {
    /// The requirement, as a sentence.
    public let description: String
    private let body: @Sendable (any Transport) async throws -> Void

    package init(_ description: String, check body: @escaping @Sendable (any Transport) async throws -> Void) {
        self.description = description
        self.body = body
    }

    /// Puts a transport to the check.
    ///
    /// - Throws: ``UnmetRequirement``, saying what was expected and what happened.
    public func check(_ transport: any Transport) async throws {
        try await UnmetRequirement.named(description) { [body] in try await body(transport) }
    }
}

/// What was expected of a transport, and what happened.
public struct UnmetRequirement: Error, CustomStringConvertible, Sendable {
    /// The expectation and the event.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// Runs a check for half a minute at most, and says with its error which one it was.
    static func named(_ name: String, _ check: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await Deadline.run(.seconds(30), check)
        } catch let broken as UnmetRequirement {
            throw UnmetRequirement("\(name): \(broken.description)")
        } catch {
            throw UnmetRequirement("\(name): \(error)")
        }
    }
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw UnmetRequirement(text()) }
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
    /// - Throws: what the body throws; ``UnmetRequirement`` when the time is up.
    static func run<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let result = Locked<CheckedContinuation<Value, any Error>?>(nil)
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
                finish(.failure(UnmetRequirement("it did not come back within \(limit)")))
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
