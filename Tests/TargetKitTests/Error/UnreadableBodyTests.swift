// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The one-line description of an error about a body that is not the requested JSON.
@Suite("Unreadable bodies", .throttled, .timeLimit(.minutes(2)))
struct UnreadableBodyTests {
    struct Order: Decodable, Sendable { var id: Int }

    private static let html = "\n<!DOCTYPE html><html><body>s3cret</body></html>"

    /// The longest media type that an error names: 80 bytes.
    private static let longestType = "text/" + String(repeating: "x", count: 75)

    /// The errors of each way of reading JSON from a body.
    private func errors(_ response: Response) -> [TargetKitError] {
        func error(_ read: () throws -> Void) -> TargetKitError? {
            do { try read() } catch { return error as? TargetKitError }
            return nil
        }
        return [
            error { _ = try response.decode(Order.self) },
            error { _ = try response.decode(Order.self, atKeyPath: "data.order") },
            error { _ = try response.decode(JSONValue.self) },
            error { _ = try response.json() },
            error { _ = try response.json(atKeyPath: "data") },
            error { _ = try response.unwrap(Order.self, from: CodeMessageData()) },
        ].compactMap { $0 }
    }

    @Test(
        "The error names the kind of a body that is not JSON, and its Content-Type, without its content",
        arguments: [
            ("", "application/json", "the body is empty (Content-Type: application/json)"),
            ("", nil, "the body is empty (no Content-Type)"),
            (" \r\n", "text/plain", "the body is empty (Content-Type: text/plain)"),
            (html, "text/html; charset=utf-8", "the body is HTML instead of JSON (Content-Type: text/html)"),
            (html, "application/json", "the body is HTML instead of JSON (Content-Type: application/json)"),
            ("\u{FEFF}<HTML s3cret", nil, "the body is HTML instead of JSON (no Content-Type)"),
            ("<p>s3cret</p>", "Text/HTML", "the body is HTML instead of JSON (Content-Type: text/html)"),
            ("<?xml s3cret", nil, "the body is XML instead of JSON (no Content-Type)"),
            (
                "<rss>s3cret", "application/rss+xml",
                "the body is XML instead of JSON (Content-Type: application/rss+xml)"
            ),
            ("s3cret", "text/plain", "the body isn't JSON (Content-Type: text/plain)"),
            ("404 page s3cret", "text/plain", "the body isn't JSON (Content-Type: text/plain)"),
            ("not s3cret", nil, "the body isn't JSON (no Content-Type)"),
            ("s3cret", "s3cret\u{1B}[2J", "the body isn't JSON (an invalid Content-Type)"),
            ("\u{1}s3cret", "a/s3cret", "the body isn't JSON (an invalid Content-Type)"),
            ("s3cret", "text/" + String(repeating: "s3cret", count: 20), "(an invalid Content-Type)"),
            ("s3cret", longestType, "(Content-Type: \(longestType))"),
            ("s3cret", longestType + "x", "(an invalid Content-Type)"),
        ] as [(String, String?, String)]
    )
    func kinds(body: String, type: String?, words: String) {
        var headers = HTTPHeaders()
        headers[.contentType] = type
        let errors = errors(Response(statusCode: 200, data: Data(body.utf8), headers: headers))
        #expect(errors.count == 6)
        for error in errors {
            #expect(error.stage == .decoding)
            #expect(error.description.hasSuffix(words), "\(error)")
            #expect(!"\(error) \(error.localizedDescription)".contains("s3cret"))
            #expect(!error.description.contains { $0.isNewline || $0 == "\u{1B}" })
            #expect(error.underlying is DecodingError || error.underlying is JSONParsingError)
        }
    }

    @Test(
        "The error names the byte at which JSON is truncated or invalid",
        arguments: [
            (#"{"id":7"#, "the JSON is invalid at byte 7: expected a comma or the end of the object"),
            (#"{"id":s3cret}"#, "the JSON is invalid at byte 6: expected a value"),
            (#"[1,2}"#, "the JSON is invalid at byte 4: expected a comma or the end of the array"),
        ]
    )
    func broken(body: String, words: String) throws {
        let response = Response(statusCode: 200, data: Data(body.utf8), headers: ["Content-Type": "application/json"])
        let error = try #require(throws: TargetKitError.self) { try response.decode(Order.self) }
        #expect(error.description.hasSuffix(words), "\(error)")
        #expect(error.underlying is DecodingError)
    }

    @Test("JSON of another shape is a decoding error", arguments: [#"{"id":"x"}"#, "{}", "7", "null", "[]", "true"])
    func otherShape(body: String) throws {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.decode(Order.self) }
        for words in ["instead of JSON", "not JSON", "empty", "broken"] { #expect(!error.description.contains(words)) }
    }

    @Test("Deep nesting elsewhere in the body does not hide a missing key path")
    func nesting() throws {
        let deep = String(repeating: "[", count: 2_000) + String(repeating: "]", count: 2_000)
        let response = Response(statusCode: 200, data: Data("{\"a\":\(deep)}".utf8))
        let error = try #require(throws: TargetKitError.self) { try response.decode(Order.self, atKeyPath: "b") }
        #expect(error.description.contains("no value at b"))
    }

    @Test("A stub's empty sample is named as such, and a server's empty body is not")
    func sample() async throws {
        let target = TestTarget(.example).with { $0.sampleResponse = .response(status: 200, data: Data()) }
        let stubbed = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let error = try await #require(throws: TargetKitError.self) {
            try await stubbed.request(target, as: Order.self)
        }
        #expect(error.description.hasSuffix("the stub's sample is empty; implement sampleData or sampleResponse"))
        let running = try RunningBackend(Backend.system) { _ in .response(status: 200, data: Data()) }
        let provider = Provider<TestTarget>(transport: running.transport)
        let served = try await #require(throws: TargetKitError.self) {
            try await provider.request(TestTarget(running.baseURL), as: Order.self)
        }
        #expect(served.description.contains("the body is empty"))
    }

    @Test("The error of a downloaded body says that it is in a file")
    func file() throws {
        let response = Response(statusCode: 200, file: URL(filePath: "/tmp/s3cret/orders"))
        let error = try #require(throws: TargetKitError.self) { try response.decode(Order.self) }
        #expect(error.description.hasSuffix("the body is in a file and wasn't read"))
    }

    @Test(
        "The excerpt is the body's beginning in one line, without control characters",
        arguments: [
            (Data(html.utf8), nil, "<!DOCTYPE html><html><body>s3cret</body></html>"), (Data(), nil, ""),
            (Data("a\r\n\tb\u{1B}[2J\u{202E}c\u{85}d\0".utf8), nil, "a b [2J c d"),
            (Data([0xCF, 0xF0, 0xE8]), "text/html; charset=windows-1251", "При"),
            (Data([0x63, 0xE9]), "text/plain; charset=no-such-thing", "c\u{FFFD}"), (Data([0x63, 0xE9]), nil, "cé"),
            (Data(String(repeating: "é", count: 9_000).utf8), nil, String(repeating: "é", count: 200)),
            (Data(("a" + String(repeating: "€", count: 9_000)).utf8), nil, "a" + String(repeating: "€", count: 199)),
        ] as [(Data, String?, String)]
    )
    func excerpt(body: Data, type: String?, excerpt: String) {
        var headers = HTTPHeaders()
        headers[.contentType] = type
        #expect(Response(statusCode: 200, data: body, headers: headers).excerpt == excerpt)
        #expect(Response(statusCode: 200, data: Data("xx".utf8) + body, headers: headers).excerpt.hasPrefix("xx"))
    }

    @Test("No text of an error contains the body of a web page", arguments: [html, "s3cret", "<?xml s3cret"])
    func noText(body: String) throws {
        let error = try #require(errors(Response(statusCode: 200, data: Data(body.utf8))).first)
        let texts = ["\(error)", String(reflecting: error), error.localizedDescription, "\(error as NSError)"]
        for text in texts { #expect(!text.contains("s3cret")) }
    }
}
