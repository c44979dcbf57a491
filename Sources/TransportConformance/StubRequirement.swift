// SPDX-License-Identifier: MIT
import TargetKit

/// A requirement of `Transport` for a transport that makes no connections and whose responses are provided.
///
/// ```swift
/// @Test("It meets each requirement", arguments: TransportConformance.stubRequirements)
/// func conforms(requirement: StubRequirement) async throws {
///     try await requirement.check { respond in MyStub(respond: respond) }
/// }
/// ```
public struct StubRequirement: Sendable, Identifiable, CustomStringConvertible {
    typealias Respond = @Sendable (TransportRequest) async throws -> SampleResponse
    typealias Check = @Sendable (_ make: @Sendable (@escaping Respond) -> any Transport) async throws -> Void

    /// A name that is stable across versions, with which you skip the requirement.
    public let id: String
    /// The requirement as a sentence.
    public let description: String
    private let body: Check

    init(_ id: String, description: String, check body: @escaping Check) {
        self.id = id
        self.description = description
        self.body = body
    }

    /// Checks the transports that a closure creates.
    ///
    /// - Parameter make: Creates a transport that responds with the results of the closure, or fails with its error.
    /// - Throws: An error that describes the requirement, the expectation, and the actual result.
    public func check(
        _ make:
            @escaping @Sendable (
                _ respond: @escaping @Sendable (TransportRequest) async throws -> SampleResponse
            ) -> any Transport
    ) async throws {
        try await TransportConformance.check(self) { [body] in try await body(make) }
    }
}
