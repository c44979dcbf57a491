// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitContracts
import TargetKitTesting
import TestSupport
import Testing

@Suite("The check of contracts", .throttled)
struct ContractTests {
    private struct Product: Decodable, Sendable {
        let id: Int
        let name: String
    }

    /// A target whose sample the test chooses.
    private struct Target: TargetType {
        var path: RequestPath = "/a"
        var method = HTTPMethod.get
        var headers: HTTPHeaders = [:]
        var sample = #"{"id":1,"name":"tea"}"#
        var sampleHeaders: HTTPHeaders = [:]
        var status = 200
        var task: HTTPTask = .plain

        var baseURL: URL { URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/") }
        var sampleResponse: SampleResponse {
            .response(status: status, headers: sampleHeaders, data: Data(sample.utf8))
        }
    }

    private struct Typed: TypedTarget {
        typealias Output = Product
        var sample: String

        var baseURL: URL { URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/") }
        var path: RequestPath { "/typed" }
        var keyPath: String? { "data" }
        var sampleData: Data { Data(sample.utf8) }
    }

    /// A target whose responses are property lists.
    private struct Listed: TypedTarget {
        typealias Output = [String: Int]
        var sample: Data

        var baseURL: URL { .example }
        var path: RequestPath { "/list" }
        var options: CallOptions { .setting(\.decoder, PropertyListDecoder()) }
        var sampleData: Data { sample }
    }

    private func problems(_ targets: [Target], cassette: URL? = nil) async throws -> [String] {
        do {
            try await Provider<Target>().checkContracts(of: targets, cassette: cassette)
            return []
        } catch {
            return "\(error)".split(separator: "\n").dropFirst().map { String($0.dropFirst(2)) }
        }
    }

    @Test("Targets with valid requests and samples pass")
    func valid() async throws {
        let targets = [
            Target(), Target(sample: ""), Target(sample: "hello"), Target(sample: #"{"token":"sample-token"}"#),
            Target(method: .put, task: .json(["a": 1])),
        ]
        #expect(try await problems(targets) == [])
    }

    @Test("A typed target's sample is decoded at its key path; another one into the given type")
    func types() async throws {
        let provider = Provider<MultiTarget>()
        try await provider.checkContracts(of: [MultiTarget(Typed(sample: #"{"data":{"id":1,"name":"tea"}}"#))])
        let error = await #expect(throws: (any Error).self) {
            try await provider.checkContracts(of: [
                MultiTarget(Typed(sample: #"{"data":{"id":"1","name":"tea"}}"#)), MultiTarget(Typed(sample: "")),
            ])
        }
        let text = "\(try #require(error))"
        #expect(text.hasPrefix("2 problems:\n  Typed: the sample: the body couldn't be decoded"))
        #expect(text.contains("expected Int at data.id, found a string"))
        await #expect(throws: (any Error).self) {
            try await Provider<Target>().checkContracts(of: [Target(sample: #"{"id":1}"#)], as: { _ in Product.self })
        }
    }

    @Test("A sample of another format is decoded by its target's decoder")
    func otherFormat() async throws {
        let encoder = PropertyListEncoder()
        let (count, name) = (try encoder.encode(["count": 1]), try encoder.encode(["count": "one"]))
        try await Provider<Listed>().checkContracts(of: [Listed(sample: count)])
        for sample in [name, Data(count.dropLast()), Data("<html>".utf8)] {
            await #expect(throws: (any Error).self) {
                try await Provider<Listed>().checkContracts(of: [Listed(sample: sample)])
            }
        }
    }

    @Test("A test on the main actor chooses the types")
    @MainActor
    func mainActor() async throws {
        try await Provider<Target>().checkContracts(of: [Target()]) { $0.sample.isEmpty ? nil : Product.self }
    }

    @Test("What cannot be sent is a problem")
    func requests() async throws {
        let found = try await problems([Target(path: "/a/../b"), Target(headers: ["X A": "1"]), Target()])
        #expect(found.count == 2)
        #expect(found.first?.hasPrefix("Target: the endpoint couldn't be built") == true)
    }

    @Test("A sample that its target refuses, and one that is no JSON, is a problem")
    func samples() async throws {
        #expect(try await problems([Target(status: 404)]).count == 1)
        let broken = try await problems([Target(sample: #"{"id":1,}"#)])
        #expect(broken.count == 1 && broken[0].hasPrefix("Target: the sample isn't valid JSON"))
        let declared = Target(sample: "hello", sampleHeaders: ["Content-Type": "application/json"])
        #expect(try await problems([declared]).count == 1)
    }

    @Test("The delay of a sample does not count")
    func delay() async throws {
        struct Slow: TargetType {
            let baseURL = URL(fileURLWithPath: "/")
            let path: RequestPath = "a"
            var sampleResponse: SampleResponse { .delayed(.seconds(3_600), .json("{")) }
        }
        let provider = Provider<Slow>(endpointClosure: { target in
            Endpoint(url: try #require(URL(string: "https://a.example")), sampleResponse: target.sampleResponse)
        })
        await #expect(throws: (any Error).self) { try await provider.checkContracts(of: [Slow()]) }
    }

    @Test("A download's sample is not written to its file")
    func download() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", Data("old".utf8))
        #expect(try await problems([Target(task: .download(to: file))]).isEmpty)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test("A value that looks like a real secret is a problem, and is not in the error")
    func secrets() async throws {
        let secret = "sk9fJ2kL8qPz7XvB3nM1"
        let found = try await problems([
            Target(sample: #"{"user":{"accessToken":"\#(secret)"}}"#),
            Target(sampleHeaders: ["Set-Cookie": "sid=\(secret)"]),
        ])
        #expect(
            found == [
                "Target: the sample seems to contain a secret at user.accessToken",
                "Target: the sample's header field Set-Cookie seems to contain a secret",
            ]
        )
    }

    private func record(_ answer: SampleResponse, _ target: Target = Target(), in folder: URL) async throws {
        let recording = CassetteTransport(.record, folder: folder, recording: StubTransport(answer))
        _ = try await Provider<Target>(transport: recording, redirects: .none).request(target)
    }

    @Test("A redacted value of a recorded answer can have any shape")
    func redactedAnswer() async throws {
        let folder = try TemporaryFolder()
        let answer = #"{"token":{"a":1},"pin":1234,"list":[{"key":"x"},{"key":7}],"id":"1"}"#
        try await record(.json(answer), in: folder.url)
        let sample = #"{"token":{"a":1},"pin":1,"list":[{"key":7}],"id":1}"#
        #expect(
            try await problems([Target(sample: sample)], cassette: folder.url) == [
                "Target: the response 001-GET-a: id: the sample has number, the response string"
            ]
        )
    }

    @Test("A target without an entry, and an answer that cannot be compared, is a problem")
    func skipped() async throws {
        let folder = try TemporaryFolder()
        try await record(.json("{}"), Target(path: "/a", task: .parameters(["q": "1"], encoding: .url)), in: folder.url)
        try await record(.response(status: 200, data: Data("hello".utf8)), Target(path: "/text"), in: folder.url)
        try await record(.response(status: 203, data: Data()), Target(path: "/status"), in: folder.url)
        let missing = try await problems(
            [Target(), Target(path: "/text"), Target(path: "/status"), Target(path: "/text", sample: "text")],
            cassette: folder.url
        )
        #expect(
            missing == [
                """
                Target: the cassette \(folder.url.path) has no entry for GET https://shop.example/a; \
                the closest is 001-GET-a:
                """,
                "  query q: missing, expected \"1\"",
                "Target: the response 002-GET-text: the sample is JSON, the response text",
                "Target: the response 003-GET-status: the sample has status 200, the response 203",
            ]
        )
    }

    @Test("The check finds an entry that was recorded with the given redaction")
    func redaction() async throws {
        let folder = try TemporaryFolder()
        var redaction = Redaction()
        redaction.secretFields = ["iban"]
        let stub = StubTransport(.json(#"{"id":1,"name":"x"}"#))
        let recording = CassetteTransport(.record, folder: folder.url, recording: stub, redaction: redaction)
        let target = Target(task: .parameters(["iban": "DE1"], encoding: .url))
        _ = try await Provider<Target>(transport: recording).request(target)
        try await Provider<Target>().checkContracts(of: [target], cassette: folder.url, redaction: redaction)
        #expect(try await problems([target], cassette: folder.url).count == 2)
    }

    @Test("Many elements with different keys are compared in linear time", .timeLimit(.minutes(1)))
    func manyKeys() async throws {
        let folder = try TemporaryFolder()
        let rows = "[" + (0..<20_000).map { "{\"k\($0)\":1}" }.joined(separator: ",") + "]"
        try await record(.json(rows), in: folder.url)
        #expect(try await problems([Target(sample: rows)], cassette: folder.url).isEmpty)
    }

    @Test("A recorded answer must have the sample's keys and types")
    func cassette() async throws {
        let folder = try TemporaryFolder()
        let answer = #"{"id":"1","list":[{"a":1,"b":null},{"a":null}],"more":1,"price":null}"#
        let recording = CassetteTransport(
            .record,
            folder: folder.url,
            recording: StubTransport(.response(status: 200, data: Data(answer.utf8)))
        )
        _ = try await Provider<Target>(transport: recording).request(Target())
        let sample = #"{"id":1,"name":"tea","list":[{"a":2,"b":null}],"price":1.5,"any":null}"#
        #expect(
            try await problems([Target(sample: sample)], cassette: folder.url) == [
                "Target: the response 001-GET-a: id: the sample has number, the response string",
                "Target: the response 001-GET-a: name: missing in the response",
                "Target: the response 001-GET-a: list.[].a: the sample has number, the response null",
                "Target: the response 001-GET-a: list.[].b: missing in some elements of the response",
                "Target: the response 001-GET-a: price: the sample has number, the response null",
                "Target: the response 001-GET-a: any: missing in the response",
            ]
        )
        #expect(try await problems([Target(sample: #"{"id":"x","list":[]}"#)], cassette: folder.url).isEmpty)
    }
}
