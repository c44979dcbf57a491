// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("RecordedRequest", .throttled)
struct RecordedRequestTests {
    @Test("It has the parts of the transport's request, and the body of a file")
    func parts() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try Data("hello".utf8).write(to: file)
        var urlRequest = URLRequest(url: try #require(URL(string: "https://shop.example/a?b=c")))
        urlRequest.httpMethod = "PUT"
        urlRequest.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let request = try RecordedRequest(TransportRequest(urlRequest: urlRequest, body: .file(file)))
        #expect(request.method == .put)
        #expect(request.url == urlRequest.url)
        #expect(request.headers[.contentType] == "text/plain")
        #expect(request.text == "hello")
        #expect(request.target == nil)
    }
}
