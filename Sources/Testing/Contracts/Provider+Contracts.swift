// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension Provider {
    /// Checks that the targets and their samples are valid, so that stubs stay true to the API.
    ///
    /// For each target:
    /// - The request can be built by the provider's closures: URL, path, header fields, and body; a file that it
    ///   sends must exist. Plugins aren't called.
    /// - The sample is accepted by the target's validation, and decodes into the type of a ``TypedTarget`` or the given
    ///   type. A sample that is a failure isn't decoded. Without a type, a sample that is declared as JSON, or
    ///   starts like it, is parsed.
    /// - Neither the body nor the header fields of the sample contain what seems to be a real secret. Fields such as
    ///   `token` may have a made-up value.
    /// - The response that a cassette has for the request has the keys and types of the sample. It can have more keys,
    ///   and redacted values can have any type. A target without an entry is a problem, so that no check is skipped
    ///   unnoticed.
    ///
    /// ```swift
    /// try await provider.checkContracts(of: Catalog.allCases)
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls.
    ///   - cassette: The folder of a `CassetteTransport`; default `nil`: no responses are compared.
    ///   - parts: The parts of a request that must be as recorded; default: method, path and query. Leave out the query
    ///     if plugins add items to it.
    ///   - redaction: The redaction with which the cassette was recorded; default: `Redaction()`.
    ///   - type: The type that a target's sample decodes into; default `nil`: only that of a ``TypedTarget``.
    /// - Throws: One error with all problems of all targets, a line each; `CancellationError`.
    public func checkContracts(
        of targets: some Sequence<Target>,
        cassette: URL? = nil,
        matching parts: [RequestPart] = [.method, .path, .query],
        redaction: Redaction = Redaction(),
        as type: @Sendable (Target) -> (any (Decodable & Sendable).Type)? = { _ in nil }
    ) async throws {
        let cassette = cassette.map { Cassette($0, matching: parts) }
        _ = try cassette?.entries
        var problems = ContractProblems()
        for target in targets {
            try Task.checkCancellation()
            let check = ContractCheck(provider: self, target: target, type: type(target))
            problems.add(await check.problems(in: cassette, by: redaction), of: target)
        }
        try problems.throwIfAny()
    }
}
