// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

/// Checks of the requirements of `Transport` against a `TestServer`. They don't depend on a test library:
///
/// ```swift
/// import TargetKitTransportConformance
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
/// Each check uses a separate server, and fails after 30 seconds. If a transport doesn't meet a requirement, skip it by
/// its identifier, which the message of a failed check contains:
///
/// ```swift
/// TransportConformance.requirements.filter { !["decodesGzip", "readsLatin1Fields"].contains($0.id) }
/// ```
///
/// To check a transport that makes no connections, use ``stubRequirements``.
public enum TransportConformance {
    /// All requirements of a transport that sends requests to servers.
    public static let requirements =
        requests + bodies + responses + oneExchange + failures + cancelling + reporting + streaming
}

/// A requirement of `Transport` for a transport that sends requests to servers.
public struct TransportRequirement: Sendable, Identifiable, CustomStringConvertible {
    /// A name that is stable across versions, with which you skip the requirement.
    public let id: String
    /// The requirement as a sentence.
    public let description: String
    private let body: @Sendable (any Transport) async throws -> Void

    init(_ id: String, description: String, check body: @escaping @Sendable (any Transport) async throws -> Void) {
        self.id = id
        self.description = description
        self.body = body
    }

    /// Checks a transport, which can be used for other checks at the same time.
    ///
    /// - Throws: An error that describes the requirement, the expectation, and the actual result.
    public func check(_ transport: any Transport) async throws {
        try await TransportConformance.check(self) { [body] in try await body(transport) }
    }
}

extension TransportConformance {
    /// Runs a check for at most 30 seconds, and adds the requirement's identifier and sentence to the error.
    static func check(
        _ requirement: some Identifiable<String> & CustomStringConvertible,
        body: @escaping @Sendable () async throws -> Void
    ) async throws {
        do {
            try await Deadline.run(.seconds(30), body: body)
        } catch {
            throw ExpectationFailure("\(requirement.id): \(requirement): \(error)")
        }
    }
}

func expect(_ condition: Bool, text: @autoclosure () -> String) throws {
    if !condition { throw ExpectationFailure(text()) }
}

/// Checks that two values are equal.
func expect<Value: Equatable>(_ what: String, value: Value, is expected: Value) throws {
    try expect(value == expected, text: "\(what): expected \(brief(expected)), found \(brief(value))")
}

/// The value in a message, without `Optional` and truncated to 300 characters.
private func brief(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional { return mirror.children.first.map { brief($0.value) } ?? "none" }
    let text = String(reflecting: value)
    return text.count > 300 ? text.prefix(300) + "…" : text
}
