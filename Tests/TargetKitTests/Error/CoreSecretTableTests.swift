// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Every name of a secret at every place: none of the values reaches a text that the core makes, which doesn't look for
/// secrets in texts and bodies.
@Suite("Secrets at every place of a call, with the core alone", .throttled, .timeLimit(.minutes(5)))
struct CoreSecretTableTests {
    @Test("No secret reaches the text of an error", arguments: SecretPlace.all)
    func error(_ place: SecretPlace) async throws {
        for (number, name) in SecretName.all.enumerated() where number.isMultiple(of: 6) {
            let target = place.make(name, "s3cr\(number)et").with { $0.validation = .codes([299]) }
            let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
            let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
            var dumped = ""
            dump(error, to: &dumped)
            let bridged = error as NSError
            for text in [
                error.description, String(reflecting: error), error.localizedDescription, dumped, "\(bridged)",
                "\(bridged.userInfo)",
            ] { #expect(!text.contains("s3cr"), "\(name)") }
        }
    }

    @Test("No secret reaches the text of a request, a response, or a part of them", arguments: SecretPlace.all)
    func descriptions(_ place: SecretPlace) async throws {
        for (number, name) in SecretName.all(at: place) {
            let target = place.make(name, "s3cr\(number)et")
            let sent = Recorder<TransportRequest>()
            let provider = Provider<TestTarget>(
                transport: StubTransport { request in
                    sent.append(request)
                    return target.sampleResponse
                }
            )
            let response = try await provider.request(target)
            let path = RequestPath(raw: "/a?\(target.baseURL.query(percentEncoded: true) ?? "")")
            let values: [Any] = [
                try Endpoint(target: target), target.headers, target.task, target.sampleResponse, path,
                sent.elements, response, response.headers, response.headers.fields,
            ]
            #expect(sent.elements.count == 1)
            for value in values { #expect(TextualForms(of: value).forms(holding: "s3cr") == [], "\(name)") }
        }
    }
}
