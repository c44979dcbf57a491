// SPDX-License-Identifier: MIT
import TargetKitTesting

extension Provider {
    /// Checks targets, their samples, and recorded responses against an OpenAPI document.
    ///
    /// For each target:
    /// - The provider's closures can build the request, and the document has an operation with its method and path.
    ///   Plugins aren't called.
    /// - The sample is a valid response of the operation, as checked by `OpenAPIContract`. Empty samples and failures
    ///   aren't checked.
    /// - All responses of the cassette to the request are valid, too. A target without an entry is a problem, so that
    ///   no check is silently skipped.
    ///
    /// ```swift
    /// let contract = try OpenAPIContract(document: Data(contentsOf: url))
    /// try await provider.checkContracts(of: Catalog.allCases, against: contract)
    /// ```
    ///
    /// - Parameters:
    ///   - targets: The calls.
    ///   - contract: The document.
    ///   - cassette: The folder of a `CassetteTransport`; default `nil`: only samples are checked.
    ///   - parts: The parts of a request that must match the recorded ones; default: method, path and query. Omit the
    ///     query if plugins add items to it.
    ///   - redaction: The redaction with which the cassette was recorded; default: `Redaction()`.
    /// - Throws: One error with all problems of all targets, one line each, or `CancellationError`.
    public func checkContracts(
        of targets: some Sequence<Target>,
        against contract: OpenAPIContract,
        cassette: URL? = nil,
        matching parts: [RequestPart] = [.method, .path, .query],
        redaction: Redaction = Redaction()
    ) async throws {
        let cassette = cassette.map { Cassette($0, matching: parts) }
        _ = try cassette?.entries
        var problems = ContractProblems()
        for target in targets {
            try Task.checkCancellation()
            do {
                let unsent = try await unsentRequest(of: target, hasPlugins: false)
                let check = try contract.responseCheck(of: unsent.urlRequest)
                problems.add(try check.sampleProblems(endpoint(of: target).sampleResponse), of: target)
                guard let cassette else { continue }
                let request = RedactedRequest(
                    recording: try RecordedRequest(unsent),
                    by: redaction.adding(unsent.secretHeaders)
                )
                problems.add(try check.recordedProblems(of: request, in: cassette), of: target)
            } catch {
                problems.add([ContractProblems.text(error, of: target)], of: target)
            }
        }
        try problems.throwIfAny()
    }
}

extension OpenAPIContract {
    fileprivate func responseCheck(of request: URLRequest) throws -> OpenAPIResponseCheck {
        guard let url = request.url else { throw ExpectationFailure("the request has no URL") }
        let operation = try operations.operation(of: request.httpMethod ?? "GET", url: url)
        return OpenAPIResponseCheck(document: document, operation: operation)
    }
}

extension OpenAPIResponseCheck {
    fileprivate func sampleProblems(_ sample: SampleResponse) throws -> [String] {
        guard case .response(let status, let headers, let data) = sample.withDelay.result, !data.isEmpty else {
            return []
        }
        return try differences(status: status, headers: headers, body: data).map { "the sample: \($0)" }
    }

    fileprivate func recordedProblems(of request: RedactedRequest, in cassette: Cassette) throws -> [String] {
        let recordings = try cassette.recordings(matching: request)
        guard !recordings.isEmpty else { return [try cassette.missing(request).description] }
        return try recordings.flatMap { recording -> [String] in
            guard let status = recording.status, let response = try recording.response() else { return [] }
            let found = try differences(status: status, headers: response.headers, body: response.body)
            return found.map { "the response \(recording.name): \($0)" }
        }
    }
}
