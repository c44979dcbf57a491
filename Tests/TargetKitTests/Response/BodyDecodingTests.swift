// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

@Suite("Decoding other formats", .throttled, .timeLimit(.minutes(2)))
struct BodyDecodingTests {
    struct Truncated: Error {}

    /// Bytes, at least two of them.
    private static let bytes = BodyDecoding<[UInt8]> { data in
        guard data.count > 1 else { throw Truncated() }
        return Array(data)
    }

    private func provider(
        _ samples: SampleResponse...,
        plugins: [any Plugin] = [],
        options: CallOptions = CallOptions()
    ) -> Provider<TestTarget> {
        Provider(transport: Replies(samples), plugins: plugins, options: options)
    }

    /// Responds with one sample after another; the last one stays.
    private final class Replies: Transport {
        private let samples: Counter

        private actor Counter {
            private var samples: [SampleResponse]
            init(_ samples: [SampleResponse]) { self.samples = samples }
            func next() -> SampleResponse { samples.count > 1 ? samples.removeFirst() : samples[0] }
        }

        init(_ samples: [SampleResponse]) {
            self.samples = Counter(samples)
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await StubTransport(await samples.next()).send(request)
        }
    }

    private struct RetryOnce: Plugin {
        var hooks: PluginHooks { .retry }

        func retry(_ attempt: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            if case .failure(let error) = attempt, error.stage == .decoding, context.attempt == 0 {
                .retry(after: .zero)
            } else {
                .doNotRetry
            }
        }
    }

    private static func sample(_ bytes: [UInt8], status: Int = 200) -> SampleResponse {
        .response(status: status, headers: ["X-Unit": "C"], data: Data(bytes))
    }

    @Test("The error of a closure is the underlying error of stage decoding, with the response")
    func failure() async throws {
        let error = await #expect(throws: TargetKitError.self) {
            try await provider(Self.sample([1])).request(TestTarget(.example), decoding: Self.bytes)
        }
        #expect(error?.stage == .decoding)
        #expect(error?.kind == .decoding)
        #expect(error?.underlying is Truncated)
        #expect(error?.response?.headers["X-Unit"] == "C")
    }

    @Test("An error of TargetKit that a closure throws reaches the caller unchanged")
    func ownError() async throws {
        let decoding = BodyDecoding<Int> { _ in throw TargetKitError(stage: .envelope, underlying: Truncated()) }
        let error = await #expect(throws: TargetKitError.self) {
            try await provider(Self.sample([])).request(TestTarget(.example), decoding: decoding)
        }
        #expect(error?.stage == .envelope)
    }

    @Test("A plugin retries a call whose value could not be made")
    func retried() async throws {
        let provider = provider(Self.sample([1]), Self.sample([1, 2]), plugins: [RetryOnce()])
        #expect(try await provider.request(TestTarget(.example), decoding: Self.bytes) == [1, 2])
    }

    @Test("A status that isn't accepted is not decoded")
    func status() async throws {
        let provider = provider(Self.sample([1, 2], status: 500))
        let target = TestTarget.accepting(.successCodes)
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(target, decoding: Self.bytes)
        }
        #expect(error?.stage == .status)
    }

    @Test(
        "With an envelope a closure receives its payload, or nothing if there is none",
        arguments: [(#"{"code":0,"data":[7]}"#, "[7]"), (#"{"code":0,"data":null}"#, ""), (#"{"code":0}"#, "")]
    )
    func payload(body: String, expected: String) async throws {
        let provider = provider(
            .response(status: 200, data: Data(body.utf8)),
            options: .setting(\.envelope, CodeMessageData())
        )
        let text = BodyDecoding { (data: Data) in String(decoding: data, as: UTF8.self) }
        #expect(try await provider.request(TestTarget(.example), decoding: text) == expected)
        let whole = BodyDecoding(response: { $0.statusCode })
        #expect(try await provider.request(TestTarget(.example), decoding: whole) == 200)
    }

    @Test("A failure that the envelope reports is thrown before a closure is called")
    func refusal() async throws {
        let provider = provider(
            .response(status: 200, data: Data(#"{"code":7,"message":"no"}"#.utf8)),
            options: .setting(\.envelope, CodeMessageData())
        )
        let ofBytes = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), decoding: Self.bytes)
        }
        let ofResponse = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), decoding: BodyDecoding(response: { $0.data.count }))
        }
        #expect([ofBytes?.stage, ofResponse?.stage] == [.envelope, .envelope])
    }

    @Test("The value comes with its response, also for JSON at a key path")
    func withResponse() async throws {
        let provider = provider(.response(status: 201, data: Data(#"{"id":7}"#.utf8)))
        let (id, response) = try await provider.request(
            TestTarget(.example),
            decoding: BodyDecoding.decodable(Int.self, atKeyPath: "id").withResponse
        )
        #expect(id == 7)
        #expect(response.statusCode == 201)
    }

    @Test("Calls with closures make the value off the queue on which they complete")
    func completions() async throws {
        let provider = provider(Self.sample([1, 2]))
        let onMain = await withCheckedContinuation { done in
            provider.request(TestTarget(.example), decoding: Self.bytes) { done.resume(returning: $0) }
        }
        let onQueue = await withCheckedContinuation { done in
            provider.request(TestTarget(.example), decoding: Self.bytes, on: .global()) { done.resume(returning: $0) }
        }
        #expect(try onMain.get() == [1, 2])
        #expect(try onQueue.get() == [1, 2])
    }

    @Test("A property list is decoded by the decoder of the options, with `as:`, `decode` and a missing payload")
    func propertyList() async throws {
        let list = try PropertyListEncoder().encode(["id": 7])
        let provider = provider(
            .response(status: 200, data: list),
            options: .setting(\.decoder, PropertyListDecoder())
        )
        #expect(try await provider.request(TestTarget(.example), as: [String: Int].self) == ["id": 7])
        #expect(try await provider.request(TestTarget(.example)).decode([String: Int].self) == ["id": 7])
        let empty = self.provider(
            .response(status: 200, data: Data(#"{"code":0}"#.utf8)),
            options: .setting(\.decoder, PropertyListDecoder()).setting(\.envelope, CodeMessageData())
        )
        #expect(try await empty.request(TestTarget(.example), as: Int?.self) == nil)
    }

    private struct Stock: ResponseModel { var id: Int }

    /// The description of the error after the request.
    private func reason(
        _ body: String,
        type: String?,
        _ call: (Provider<TestTarget>, CallOptions) async throws -> Void
    ) async throws -> String {
        var headers = HTTPHeaders()
        headers[.contentType] = type
        let provider = provider(.response(status: 200, headers: headers, data: Data(body.utf8)))
        let error = await #expect(throws: TargetKitError.self) {
            try await call(provider, .setting(\.decoder, PropertyListDecoder()))
        }
        #expect(error?.stage == .decoding)
        let text = try #require(error?.description)
        #expect(!text.contains("s3cret"))
        return String(text[(text.range(of: "]: ")?.upperBound ?? text.startIndex)...])
    }

    @Test(
        "The error of another format names an empty body and HTML, and the key path of a value, without the body",
        arguments: [
            ("", nil, "the stub's sample is empty; implement sampleData or sampleResponse"),
            ("<!DOCTYPE html><p>s3cret", "text/html; charset=utf-8", "the body is HTML (Content-Type: text/html)"),
            ("\n<HTML>s3cret", nil, "the body is HTML (no Content-Type)"),
            ("<p>s3cret", "text/html", "the body is HTML (Content-Type: text/html)"),
            ("{s3cret", "text/plain", "unreadable value at the top"),
            (
                "<plist><dict><key>name</key><string>s3cret</string></dict></plist>", nil,
                "no value at id; make the property optional"
            ),
            (
                "<plist><dict><key>id</key><string>s3cret</string></dict></plist>", nil,
                "expected Int at id, found a string; change the property's type"
            ),
        ] as [(String, String?, String)]
    )
    func reasons(body: String, type: String?, words: String) async throws {
        let reason = try await reason(body, type: type) { provider, options in
            _ = try await provider.request(TestTarget(.example), as: Stock.self, options: options)
        }
        #expect(reason == words)
    }

    @Test(
        "The error of a closure names an empty body and HTML, but is the closure's own for other bodies and for fields"
    )
    func closureReasons() async throws {
        struct Unknown: Error, CustomStringConvertible { var description = "an unknown message" }
        let whole = BodyDecoding<Int> { _ in throw Unknown() }
        let field = BodyDecoding<Int>(response: { _ in throw Unknown() })
        for (body, words) in [("", "the stub's sample is empty; "), ("<html>", "the body is HTML (no Content-Type)")] {
            let reason = try await reason(body, type: nil) { provider, _ in
                _ = try await provider.request(TestTarget(.example), decoding: whole)
            }
            #expect(reason.hasPrefix(words))
        }
        let own = try await reason("\u{8}\u{1}", type: nil) { provider, _ in
            _ = try await provider.request(TestTarget(.example), decoding: whole)
        }
        let ownOfField = try await reason("", type: nil) { provider, _ in
            _ = try await provider.request(TestTarget(.example), decoding: field)
        }
        #expect(own.contains("Unknown") && own == ownOfField)
    }

    @Test("A key path with a decoder of another format says that it needs JSON, and shows nothing of the body")
    func keyPath() async throws {
        let provider = provider(
            .response(status: 200, data: Data("s3cret".utf8)),
            options: .setting(\.decoder, PropertyListDecoder())
        )
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(TestTarget(.example), as: Int.self, atKeyPath: "data")
        }
        let text = try #require(error?.description)
        #expect(text.contains("a key path is read from JSON only, and the decoder is PropertyListDecoder"))
        #expect(!text.contains("s3cret"))
    }

    @Test("Untyped JSON is read by the decoder of the options if that isn't a JSON decoder")
    func untyped() async throws {
        struct Constant: BodyDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                try JSONDecoder().decode(type, from: Data(#""constant""#.utf8))
            }
        }
        let provider = provider(Self.sample([1, 2]), options: .setting(\.decoder, Constant()))
        #expect(try await provider.request(TestTarget(.example), as: JSONValue.self) == "constant")
    }
}

extension TestTarget {
    fileprivate static func accepting(_ validation: StatusValidation) -> TestTarget {
        var target = TestTarget(.example)
        target.validation = validation
        return target
    }
}
