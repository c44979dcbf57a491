// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// Checks one target.
struct ContractCheck<Target: TargetType> {
    let provider: Provider<Target>
    let target: Target
    /// The type into which the sample decodes, if the target doesn't declare it.
    let type: (any (Decodable & Sendable).Type)?

    /// The problems of the target, one line each.
    ///
    /// - Parameters:
    ///   - cassette: The recorded calls; `nil` if there are none to compare.
    ///   - redaction: The secrets that were redacted in the recorded calls.
    func problems(in cassette: Cassette?, by redaction: Redaction) async -> [String] {
        let unsent: TransportRequest
        let sampleResponse: SampleResponse
        do {
            unsent = try await provider.unsentRequest(of: target, hasPlugins: false)
            sampleResponse = try provider.endpoint(of: target).sampleResponse
        } catch {
            return [text(error)]
        }
        guard let sample = Sample(sampleResponse) else { return [] }
        var problems = await decodingProblems(sample)
        problems += sample.headerSecrets
        problems += SampleSecrets.problems(in: sample.data, contentType: sample.headers[.contentType])
        guard let cassette else { return problems }
        do {
            let request = RedactedRequest(
                recording: try RecordedRequest(unsent),
                by: redaction.adding(unsent.secretHeaders)
            )
            return problems + (try shapeProblems(sample, request: request, in: cassette))
        } catch {
            return problems + ["\(error)"]
        }
    }

    private func text(_ error: any Error) -> String { ContractProblems.text(error, of: target) }
}

/// A sample that is a response.
private struct Sample {
    let status: Int
    let headers: HTTPHeaders
    let data: Data

    /// The response without its delay; `nil` for a failure.
    init?(_ sample: SampleResponse) {
        guard case .response(let status, let headers, let data) = sample.withDelay.result else { return nil }
        (self.status, self.headers, self.data) = (status, headers, data)
    }

    var response: SampleResponse { .response(status: status, headers: headers, data: data) }
    var content: BodyContent { BodyContent(data, contentType: headers[.contentType]) }

    /// The problem if the sample is declared as JSON or looks like JSON, but isn't valid.
    var jsonProblems: [String] {
        guard BodyContent.seemsJSON(data, contentType: headers[.contentType]) else { return [] }
        do {
            _ = try JSONValue(parsing: data)
            return []
        } catch {
            return ["the sample isn't valid JSON: \(error)"]
        }
    }

    var headerSecrets: [String] {
        zip(headers.fields, Redaction().headers(headers).fields).compactMap { field, redacted in
            guard field.value != redacted.value, SampleSecrets.isReal(field.value) else { return nil }
            return "the sample's header field \(field.name.rawValue) seems to contain a secret"
        }
    }
}

// MARK: - Decoding

extension ContractCheck {
    private func decodingProblems(_ sample: Sample) async -> [String] {
        let provider = provider.replacing(transport: SampleTransport(sample: sample.response))
        do {
            if let typed = MultiTarget(target).target as? any TypedTarget {
                try await decode(typed, with: provider)
            } else if let type {
                try await decode(type, with: provider, keyPath: nil)
            } else {
                _ = try await provider.request(target)
                return sample.jsonProblems
            }
            return []
        } catch {
            return ["the sample: \(text(error))"]
        }
    }

    private func decode<Typed: TypedTarget>(_ typed: Typed, with provider: Provider<Target>) async throws {
        try await decode(Typed.Output.self, with: provider, keyPath: typed.keyPath)
    }

    private func decode<Value: Decodable & Sendable>(
        _ type: Value.Type,
        with provider: Provider<Target>,
        keyPath: String?
    ) async throws {
        _ = try await provider.request(target, as: Value.self, atKeyPath: keyPath)
    }
}

/// Returns a sample. The request's body isn't read.
private struct SampleTransport: Transport {
    let sample: SampleResponse

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        request.body = .none
        return try await StubTransport(sample).send(request)
    }
}

// MARK: - Secrets

/// Finds secrets in samples. Samples need made-up values for fields such as `token`, so only values that look generated
/// count.
enum SampleSecrets {
    static func problems(in data: Data, contentType: String?) -> [String] {
        let redacted = Redaction().body(data, contentType: contentType)
        guard redacted != data else { return [] }
        guard case .json(let json) = BodyContent(data, contentType: contentType),
            case .json(let redactedJSON) = BodyContent(redacted, contentType: contentType)
        else {
            return isReal(String(decoding: data, as: UTF8.self)) ? ["the sample seems to contain a secret"] : []
        }
        return JSONDifference.between(redactedJSON, found: json).compactMap { difference in
            let value: JSONValue? =
                switch difference.kind {
                case .changed(_, let value), .typeChanged(_, let value), .added(let value): value
                case .missing: nil
                }
            guard let value, isReal(value.string ?? value.description) else { return nil }
            return "the sample seems to contain a secret at \(difference.path)"
        }
    }

    private static let madeUp = ["sample", "example", "test", "fake", "dummy", "mock", "redacted", "placeholder"]

    /// Whether text contains a word of at least 16 characters that looks generated, with letters and digits, at least
    /// eight different characters, and no part that marks it as made up.
    static func isReal(_ text: String) -> Bool {
        text.split { !($0.isLetter || $0.isNumber || "-_.+/=".contains($0)) }.contains { word in
            let lowercase = word.lowercased()
            return word.count >= 16 && word.contains(where: \.isLetter) && word.contains(where: \.isNumber)
                && Set(word).count >= 8 && !madeUp.contains(where: lowercase.contains)
        }
    }
}

// MARK: - Recorded responses

extension ContractCheck {
    /// The problems of the last recorded response with the sample's status. A missing or incomparable response is also
    /// a problem.
    private func shapeProblems(_ sample: Sample, request: RedactedRequest, in cassette: Cassette) throws -> [String] {
        let recordings = try cassette.recordings(matching: request)
        guard let last = recordings.last else { return [try cassette.missing(request).description] }
        guard let recording = recordings.last(where: { $0.status == sample.status }) else {
            let found = last.status.map { "\($0)" } ?? "a failure"
            return ["the response \(last.name): the sample has status \(sample.status), the response \(found)"]
        }
        let response = try recording.response()
        let answer = BodyContent(response?.body ?? Data(), contentType: response?.headers[.contentType])
        switch (sample.content, answer) {
        case (.json(let expected), .json(let json)):
            return JSONShape(expected).differences(to: JSONShape(json)).map { "the response \(recording.name): \($0)" }
        case (.json, let other):
            return ["the response \(recording.name): the sample is JSON, the response \(other.formatName)"]
        case (let other, .json):
            return ["the response \(recording.name): the sample is \(other.formatName), the response JSON"]
        default:
            return []
        }
    }
}
