// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error of Foundation can have any value in its `userInfo`.
@Suite("Redacted errors", .throttled)
struct RedactedErrorTests {
    /// A value that holds a secret.
    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var key = "value"
        let make: @Sendable () -> Any
    }

    struct Token { var text = "s3cret" }

    struct Speaking: LocalizedError {
        var token = "s3cret"
        var errorDescription: String? { "Please sign in at https://anna:s3cret@h.example/?token=s3cret again." }
    }

    enum Refusal: Error { case of(token: String) }

    final class Informed: NSError, @unchecked Sendable {
        let token = "s3cret"
        override var localizedDescription: String { "not with s3cret" }
    }

    static let url = URL(string: "https://anna:s3cret@h.example/v1/a?token=s3cret#s3cret") ?? .example

    static var request: URLRequest {
        var request = URLRequest(url: url)
        request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
        request.httpBody = Data("s3cret".utf8)
        return request
    }

    static let values = [
        Value(testDescription: "a request") { request },
        Value(testDescription: "a set of URLs") { Set([url]) },
        Value(testDescription: "URLs as keys") { [url: 1] },
        Value(testDescription: "texts of URLs as keys") { [url.absoluteString: 1] },
        Value(testDescription: "URLs as values") { ["a": url] },
        Value(testDescription: "URLs within arrays of dictionaries of arrays") { [["a": [url]], ["a": []]] },
        Value(testDescription: "requests in an array") { [request] },
        Value(testDescription: "a set of texts in a dictionary with numbers as keys") { [1: Set(["\(url)"])] },
        Value(testDescription: "an Objective-C array") { NSArray(array: [url.absoluteString]) },
        Value(testDescription: "an Objective-C dictionary") { NSDictionary(dictionary: ["a": url.absoluteString]) },
        Value(testDescription: "the parts of a URL") { URLComponents(url: url, resolvingAgainstBaseURL: false) as Any },
        Value(testDescription: "an Objective-C URL") { url as NSURL },
        Value(testDescription: "part of a text") { url.absoluteString.dropFirst(0) },
        Value(testDescription: "an Objective-C text") { NSString(string: url.absoluteString) },
        Value(testDescription: "bytes") { Data("s3cret".utf8) },
        Value(testDescription: "a tuple") { (1, url) },
        Value(testDescription: "a type of the app") { Token() },
        Value(testDescription: "an optional") { Optional(Token()) as Any },
        Value(testDescription: "an error of the app") { Refusal.of(token: "s3cret") },
        Value(testDescription: "a type that inherits from NSError") { Informed(domain: "app", code: 1) },
        Value(testDescription: "a password", key: "password") { "s3cret" },
        Value(testDescription: "header fields") { ["Authorization": "Bearer s3cret", "X-Plain": "yes"] },
        Value(testDescription: "the text of a URL as a key", key: url.absoluteString) { 1 },
    ]

    private func secrets(in error: TargetKitError) -> [String] {
        TextualForms(of: error).forms(holding: "s3cret")
            + TextualForms(of: error.underlying as Any).forms(holding: "s3cret")
    }

    @Test("No value of an error's userInfo shows a secret, also in an error within it", arguments: values)
    func hidden(value: Value) {
        let info = [value.key: value.make()]
        let errors: [any Error] = [
            NSError(domain: "test", code: 1, userInfo: info), URLError(.timedOut, userInfo: info),
            CocoaError(.fileReadUnknown, userInfo: info),
        ]
        for error in errors {
            let outer = NSError(domain: "outer", code: 2, userInfo: [NSUnderlyingErrorKey: error])
            for underlying in [error, outer] {
                let failures = secrets(in: TargetKitError(stage: .transport, underlying: underlying))
                #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
            }
        }
    }

    @Test("Texts, URLs and single values are kept, and others are named by their type")
    func kept() throws {
        let info: [String: Any] = [
            "number": 7, "share": 0.5, "flag": true, "date": Date(timeIntervalSince1970: 1), "text": "plain",
            "numbers": [1, 2], "named": ["a": 1], "token": "s3cret", "request": Self.request,
        ]
        let error = TargetKitError(stage: .transport, underlying: URLError(.timedOut, userInfo: info))
        let kept = try #require(error.underlying as? URLError).userInfo
        #expect(kept["number"] as? Int == 7)
        #expect(kept["share"] as? Double == 0.5)
        #expect(kept["flag"] as? Bool == true)
        #expect(kept["date"] as? Date == Date(timeIntervalSince1970: 1))
        #expect(kept["text"] as? String == "plain")
        #expect(kept["numbers"] as? String == "Array<Int>")
        #expect(kept["named"] as? String == "Dictionary<String, Int>")
        #expect(kept["token"] as? String == "<redacted>")
        #expect(kept["request"] as? String == "URLRequest")
    }

    @Test("An error within another has its domain, code and description")
    func nested() throws {
        let cause = NSError(
            domain: NSPOSIXErrorDomain,
            code: 28,
            userInfo: [NSLocalizedDescriptionKey: "no space for https://h.example/?token=s3cret", "path": "/a"]
        )
        let error = TargetKitError(
            stage: .transport,
            underlying: URLError(.cannotWriteToFile, userInfo: [NSUnderlyingErrorKey: cause])
        )
        let kept = try #require((error.underlying as? URLError)?.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect((kept.domain, kept.code) == (NSPOSIXErrorDomain, 28))
        #expect(kept.userInfo as? [String: String] == [NSLocalizedDescriptionKey: "no space for https://h.example/"])
    }

    static let appErrors: [any Error] = [
        NSError(domain: "app", code: 3, userInfo: [NSURLErrorFailingURLErrorKey: url, "request": request]),
        Refusal.of(token: "s3cret"), Informed(domain: "app", code: 3),
        TargetKitError(stage: .transport, request: request, appError: Refusal.of(token: "s3cret")),
    ]

    @Test("The app's own error reaches NSError without its secrets", arguments: appErrors.indices)
    func appError(index: Int) {
        let error = TargetKitError(stage: .status, request: Self.request, appError: Self.appErrors[index])
        #expect(error.errorUserInfo[NSUnderlyingErrorKey] is any Error)
        let failures = TextualForms(of: error).forms(holding: "s3cret")
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    private enum Kind: String, Codable { case open }

    @Test("A decoding error of Swift's own, which quotes the value, reaches NSError without it")
    func quotedValue() throws {
        let response = Response(statusCode: 200, data: Data(#"{"token":"s3cret"}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.decode([String: Kind].self) }
        let failures = TextualForms(of: error).forms(holding: "s3cret")
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
        let nested = try #require(error.errorUserInfo[NSUnderlyingErrorKey] as? DecodingError)
        guard case .dataCorrupted(let context) = nested else { throw nested }
        #expect(context.codingPath.map(\.stringValue) == ["token"])
    }

    private struct Loud: Encodable, Sendable {
        struct Failure: Error { let password = "s3cret" }

        func encode(to encoder: any Encoder) throws { throw Failure() }
    }

    @Test("An error thrown while a part of a form is encoded shows none of its values")
    func unencodablePart() throws {
        let endpoint = Endpoint(url: .example, method: .post, task: .multipart([.json(Loud(), name: "a")]))
        let error = try #require(throws: (any Error).self) { try endpoint.urlRequest() }
        #expect("\(error)".contains("Failure"))
        #expect(TextualForms(of: error).forms(holding: "s3cret").isEmpty)
    }

    @Test("The words of the app's own error show no secrets of a URL to the developer")
    func words() throws {
        let error = TargetKitError(stage: .status, appError: Speaking())
        #expect(error.description.contains("sign in at https://h.example/ again."))
        let shown = try #require(error.errorUserInfo[NSUnderlyingErrorKey])
        #expect(TextualForms(of: shown).forms(holding: "s3cret").isEmpty)
    }

    @Test(
        "Each URL in a text is without its secrets",
        arguments: [
            ("from https://a:p@x/1?t=1 to https://b:q@y/2#t", "from https://x/1 to https://y/2"),
            ("https://a:p@x/1,https://b:q@y/2", "https://x/1,https://y/2"),
            (#"["https://a:p@x","https://b:q@y"]"#, #"["https://x","https://y"]"#),
            ("https://a:p@x\nhttps://b:q@y?t=1\n", "https://x\nhttps://y\n"),
            ("https://a:p@b@x/ or mail@y", "https://x/ or mail@y"),
            ("https://x/?\u{301}t=1", "https://x/"),
            ("https://a:p@\u{301}x/1", "https://\u{301}x/1"),
        ]
    )
    func texts(text: String, redacted: String) {
        #expect(RedactedURL.inside(text) == redacted)
    }

    @Test("The keys of the system are not names of secrets")
    func systemKeys() throws {
        let error = TargetKitError(
            stage: .transport,
            underlying: URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: Self.url, "apiKey": "s3cret"])
        )
        let shown = try #require(error.underlying as? URLError)
        #expect(shown.failingURL?.absoluteString == "https://h.example/v1/a")
        #expect(shown.userInfo["apiKey"] as? String == "<redacted>")
    }

    @Test("The server's message, which may repeat a secret, is only for the person")
    func serverMessage() {
        let refusal = ServerDefinedError(code: "7", message: "no use for s3cret")
        for error in [refusal, TargetKitError(stage: .envelope, underlying: refusal)] as [any Error] {
            var dumped = ""
            dump(error, to: &dumped)
            #expect(!(dumped + "\(error)" + String(reflecting: error)).contains("s3cret"))
            #expect(error.localizedDescription == refusal.message)
        }
    }
}
