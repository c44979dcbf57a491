// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The requirements of `Transport` as checks, which run against a ``TestServer``. They do not depend on a test library:
///
/// ```swift
/// import TargetKitTesting
/// import Testing
///
/// @Suite("MyTransport", .serialized)
/// struct MyTransportTests {
///     @Test("It meets each requirement", arguments: TransportConformance.requirements)
///     func conforms(requirement: TransportRequirement) async throws {
///         try await requirement.check(MyTransport())
///     }
/// }
/// ```
///
/// Each check uses a server of its own, and fails after 30 seconds. A transport that does not meet a requirement skips
/// it by its identifier, which is part of the message of a check that fails:
///
/// ```swift
/// TransportConformance.requirements.filter { !["decodesGzip", "readsLatin1Fields"].contains($0.id) }
/// ```
///
/// A transport that makes no connections is checked with ``stubRequirements``.
public enum TransportConformance {
    /// All requirements of a transport that sends requests to servers.
    public static let requirements =
        requests + bodies + responses + oneExchange + failures + cancelling + reporting + streaming
}

/// A requirement of `Transport`, for a transport that sends requests to servers.
public struct TransportRequirement: Sendable, Identifiable, CustomStringConvertible {
    /// A name that does not change between versions, by which a transport skips the requirement.
    public let id: String
    /// The requirement as a sentence.
    public let description: String
    private let body: @Sendable (any Transport) async throws -> Void

    init(_ id: String, _ description: String, check body: @escaping @Sendable (any Transport) async throws -> Void) {
        self.id = id
        self.description = description
        self.body = body
    }

    /// Checks a transport. It can be used for other checks at the same time.
    ///
    /// - Throws: An error whose description is the requirement, what was expected, and what happened.
    public func check(_ transport: any Transport) async throws {
        try await TransportConformance.check(self) { [body] in try await body(transport) }
    }
}

extension TransportConformance {
    /// Runs a check for at most 30 seconds, and adds the requirement's identifier and sentence to the error.
    static func check(
        _ requirement: some Identifiable<String> & CustomStringConvertible,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        do {
            try await Deadline.run(.seconds(30), body)
        } catch {
            throw ExpectationFailure("\(requirement.id): \(requirement): \(error)")
        }
    }
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw ExpectationFailure(text()) }
}

/// Checks that two values are equal.
func expect<Value: Equatable>(_ what: String, _ value: Value, is expected: Value) throws {
    try expect(value == expected, "\(what): expected \(brief(expected)), found \(brief(value))")
}

/// The value in a message: without `Optional`, and cut after 300 characters.
private func brief(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { brief($0.value) } ?? "none" }
    let text = String(reflecting: value)
    return text.count > 300 ? text.prefix(300) + "…" : text
}

/// A limit in real time, for code that may never return.
enum Deadline {
    /// Runs a function. If it has not returned in time, or the task is cancelled, it is cancelled; after the limit, it
    /// is not waited for.
    ///
    /// - Throws: The function's error; ``ExpectationFailure`` after the limit.
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
        let start = Gate()
        let work = Task {
            await start.wait()
            do { finish(.success(try await body())) } catch { finish(.failure(error)) }
        }
        let timer = Task {
            await start.wait()
            do { try await Task.sleep(for: limit) } catch { return }
            work.cancel()
            finish(.failure(ExpectationFailure("it did not return within \(limit)")))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                result.withLock { $0 = continuation }
                start.open()
            }
        } onCancel: {
            work.cancel()
        }
    }

    /// The function's result; `nil` if it has not returned in time.
    static func value<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        try? await run(limit, body)
    }
}
