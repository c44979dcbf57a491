// SPDX-License-Identifier: MIT
import TargetKitTesting

extension Provider {
    /// Checks that the targets and their samples are valid, so that stubs match the API.
    ///
    /// For each target:
    /// - The provider's closures can build the request (URL, path, header fields and body), and a file to send exists.
    ///   Plugins aren't called.
    /// - The target's validation accepts the sample, and the sample decodes into the type of a ``TypedTarget`` or the
    ///   given type. A sample that is a failure isn't decoded. Without a type, a sample that is declared as JSON or
    ///   starts like JSON is parsed.
    /// - The body and header fields of the sample don't seem to contain real secrets. Fields such as `token` may have
    ///   made-up values.
    /// - The cassette's response to the request has the keys and types of the sample. It can have more keys, and
    ///   redacted values can have any type. A target without an entry is a problem, so that no check is silently
    ///   skipped.
    ///
    /// ```swift
    /// try await provider.checkContracts(of: Catalog.allCases)
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls.
    ///   - cassette: The folder of a `CassetteTransport`; default `nil`: responses aren't compared.
    ///   - parts: The parts of a request that must match the recorded ones; default: method, path and query. Omit the
    ///     query if plugins add items to it.
    ///   - redaction: The redaction with which the cassette was recorded; default: `Redaction()`.
    ///   - type: The type into which a target's sample decodes; default `nil`: only the type of a ``TypedTarget``.
    /// - Throws: One error with all problems of all targets, one line each, or `CancellationError`.
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
