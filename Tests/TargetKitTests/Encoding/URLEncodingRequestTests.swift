// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URL {
    static let somewhere = URL(filePath: "/example")
}

@Suite("URLEncoding into a request", .throttled)
struct URLEncodingRequestTests {
    private func request(_ text: String = "https://example.com/", method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(escaped: text)))
        request.httpMethod = method
        return request
    }

    @Test(
        "The method decides between query and body",
        arguments: [("GET", true), ("HEAD", true), ("DELETE", true)]
            + ["POST", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "QUERY", "X"].map { ($0, false) }
    )
    func methodDependent(method: String, inQuery: Bool) throws {
        let encoded = try URLEncoding.url.encode(["a": 1], into: request(method: method))
        #expect(encoded.url?.query(percentEncoded: true) == (inQuery ? "a=1" : nil))
        #expect(encoded.httpBody == (inQuery ? nil : Data("a=1".utf8)))
        #expect((encoded.value(forHTTPHeaderField: "Content-Type") == nil) == inQuery)
        #expect(encoded.httpMethod == method)
    }

    @Test("The query takes the parameters of any method when asked", arguments: ["GET", "POST", "PUT"])
    func query(method: String) throws {
        let encoded = try URLEncoding.query.encode(["a": 1], into: request(method: method))
        #expect(encoded.url?.absoluteString == "https://example.com/?a=1")
        #expect(encoded.httpBody == nil)
        #expect(encoded.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test("The body takes the parameters of any method when asked", arguments: ["GET", "POST"])
    func body(method: String) throws {
        let encoded = try URLEncoding.form.encode(["a": 1], into: request(method: method))
        #expect(encoded.url?.absoluteString == "https://example.com/")
        #expect(encoded.httpBody == Data("a=1".utf8))
        #expect(
            encoded.value(forHTTPHeaderField: "content-type") == "application/x-www-form-urlencoded; charset=utf-8"
        )
    }

    @Test(
        "A query that is there is kept byte for byte and appended to",
        arguments: [
            ("https://a.b", "https://a.b?k=v"), ("https://a.b/", "https://a.b/?k=v"),
            ("https://a.b/c", "https://a.b/c?k=v"), ("https://a.b/c?", "https://a.b/c?k=v"),
            ("https://a.b/c?x=1", "https://a.b/c?x=1&k=v"), ("https://a.b/c?x=1&", "https://a.b/c?x=1&k=v"),
            ("https://a.b/c?x=%2F%2f", "https://a.b/c?x=%2F%2f&k=v"), ("https://a.b/c?x", "https://a.b/c?x&k=v"),
            ("https://a.b/c?hd=%5B1%5D", "https://a.b/c?hd=%5B1%5D&k=v"), ("https://a.b/c#f", "https://a.b/c?k=v#f"),
            ("https://a.b/c?x=1#f?g", "https://a.b/c?x=1&k=v#f?g"), ("https://a.b/%2F?+=+", "https://a.b/%2F?+=+&k=v"),
            ("https://a.b:8080/?a=b=c", "https://a.b:8080/?a=b=c&k=v"), ("/c?x=1", "/c?x=1&k=v"),
        ]
    )
    func existingQuery(before: String, after: String) throws {
        let encoded = try URLEncoding.query.encode(["k": "v"], into: request(before))
        #expect(encoded.url?.absoluteString == after)
    }

    static let unwritten: [[String: any Sendable]] = [[:], ["n": Int?.none], ["n": [Int]()]]

    @Test("Without anything to write the URL stays as it is", arguments: unwritten)
    func nothing(parameters: [String: any Sendable]) throws {
        let encoded = try URLEncoding.url.encode(parameters, into: request("https://a.b/c?x=1&#f"))
        #expect(encoded.url?.absoluteString == "https://a.b/c?x=1&#f")
    }

    @Test(
        "A Content-Type that the caller set stays, however it is spelled",
        arguments: ["Content-Type", "content-type"]
    )
    func contentType(name: String) throws {
        var original = try request(method: "POST")
        original.setValue("text/plain", forHTTPHeaderField: name)
        for encoding: any ParameterEncoding in [.form, .json] {
            let encoded = try encoding.encode(["a": 1], into: original)
            #expect(encoded.allHTTPHeaderFields?.values.sorted() == ["text/plain"])
        }
    }

    @Test("Encoding twice appends to the query and sets one Content-Type")
    func twice() throws {
        let once = try URLEncoding.query.encode(["b": 1], into: request())
        #expect(try URLEncoding.query.encode(["a": 2], into: once).url?.query() == "b=1&a=2")
        let form = try URLEncoding.form.encode(["b": 1], into: request())
        #expect(try URLEncoding.form.encode(["a": 2], into: form).allHTTPHeaderFields?.count == 1)
    }

    @Test("Encodings are named after a leading dot, generic or not")
    func statics() throws {
        func generic(_ encoding: some ParameterEncoding) throws -> URLRequest {
            try encoding.encode(["a": true], into: request(method: "POST"))
        }
        func existential(_ encoding: any ParameterEncoding) throws -> URLRequest {
            try encoding.encode(["a": true], into: request(method: "POST"))
        }
        #expect(try generic(.url).httpBody == Data("a=1".utf8))
        #expect(try existential(.form).httpBody == Data("a=1".utf8))
        #expect(try existential(.query).url?.query() == "a=1")
        #expect(try generic(.json).httpBody == Data(#"{"a":true}"#.utf8))
    }

    @Test("A request without a URL is an error, not a trap")
    func noURL() throws {
        var original = try request()
        original.url = nil
        #expect(throws: ParameterEncodingError(.invalidURL)) {
            try URLEncoding.query.encode(["a": 1], into: original)
        }
    }
}
