// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// One requirement of ``Transport`` as a transport keeps it that reaches no network, but is told what to answer.
///
/// ```swift
/// @Test("My stub keeps the requirements", .timeLimit(.minutes(3)), arguments: TransportConformance.answers)
/// func conforms(requirement: StubRequirement) async throws {
///     try await requirement.check { answer in MyStub(answer) }
/// }
/// ```
public struct StubRequirement: Sendable, CustomStringConvertible {
    /// Gives the answer to a request, or throws the error that the call has to end with.
    public typealias Answer = @Sendable (TransportRequest) async throws -> SampleResponse
    typealias Check = @Sendable (_ make: @Sendable (@escaping Answer) -> any Transport) async throws -> Void

    /// The requirement, as a sentence.
    public let description: String
    private let body: Check

    init(_ description: String, check body: @escaping Check) {
        self.description = description
        self.body = body
    }

    /// Puts transports to the check that give the answers they are made with.
    ///
    /// - Throws: ``UnmetRequirement``, saying what was expected and what happened.
    public func check(_ make: @escaping @Sendable (@escaping Answer) -> any Transport) async throws {
        try await UnmetRequirement.named(description) { [body] in try await body(make) }
    }
}
