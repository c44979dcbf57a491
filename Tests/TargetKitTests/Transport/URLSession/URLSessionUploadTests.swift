// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Linux's URLSession ends the process when an upload task with a file ends while the file is read, and sends what
/// libcurl repeats on another connection.
@Suite("URLSessionTransport: uploads on Linux", .throttled, .timeLimit(.minutes(3)))
struct URLSessionUploadTests {
    enum Kind: String, CaseIterable, Codable { case file, source }
    enum End: String, CaseIterable, Codable { case reset, cancel }

    // In a separate process, because a failure ends it.
    @Test("Uploads that are cut off or cancelled do not end the process", arguments: Kind.allCases, End.allCases)
    func cutOff(kind: Kind, end: End) async {
        await #expect(processExitsWith: .success) { [kind, end] in
            var options = TestServer.Options()
            let last: [TestServer.Step] = end == .reset ? [.wait(for: .milliseconds(2)), .reset] : [.hang]
            options.onHead = { request in
                request.path == "/next" ? .readBody : .response(TestServer.Response(steps: [.stopReading] + last))
            }
            let server = try TestServer(options: options, response: .status(200))
            let folder = try TemporaryFolder()
            let bytes = Data(count: 8 << 20)
            let file = try folder.file("body", bytes)
            let transport = URLSessionTransport.another()
            for round in 1...10 {
                // Each has a connection, of the six to one host.
                let calls = (0..<6).map { _ in
                    Task {
                        let call = TestCall(method: "PUT", body: kind == .file ? .file(file) : .stream(Bytes(bytes)))
                        return await call.failure(at: server.baseURL, with: transport)
                    }
                }
                await server.waitForHeads(round * 6)
                if end == .cancel { calls.forEach { $0.cancel() } }
                for call in calls {
                    let code = await call.value
                    guard code == (end == .reset ? .networkConnectionLost : .cancelled) else { exit(2) }
                }
            }
            let next = TestCall(path: "/next", method: "PUT", body: .file(file))
            guard try await next.send(to: server, with: transport).head.statusCode == 200 else { exit(3) }
        }
    }

    @Test("A file is sent with its length and no other fields than those of the request")
    func fields() async throws {
        let server = try TestServer(response: .status(200))
        let folder = try TemporaryFolder()
        let transport = URLSessionTransport.another()
        for size in [0, 3, 2 << 20] {
            let bytes = Data(repeating: 7, count: size)
            let file = try folder.file("\(size)", bytes)
            for body in [TransportRequest.Body.file(file), .data(bytes), .stream(Bytes(bytes))] {
                try await TestCall(method: "POST", body: body).send(to: server, with: transport)
                let sent = try #require(server.requests.last)
                #expect(sent.body == bytes)
                #expect(sent.headers["Content-Length"] == "\(size)")
                #expect(sent.headers["Transfer-Encoding"] == nil)
                #expect(sent.headers["Content-Type"] == nil)
            }
        }
    }

    @Test("On a reused connection that is closed, PUT is sent again whole, and POST not", arguments: ["PUT", "POST"])
    func closedConnection(method: String) async throws {
        let folder = try TemporaryFolder()
        for body in [Data("body".utf8), Data(count: 3 << 20)] {
            let file = try folder.file("\(body.count)", body)
            for content in [TransportRequest.Body.data(body), .file(file)] {
                let server = try TestServer { $0.connection == 0 && $0.number == 1 ? .close : .status(200) }
                let transport = URLSessionTransport.another()
                try await TestCall().send(to: server, with: transport)
                let call = TestCall(method: method, body: content)
                if method == "PUT" {
                    try await call.send(to: server, with: transport)
                    #expect(server.requests.map(\.body) == [Data(), body, body])
                } else {
                    #expect(await call.failure(at: server.baseURL, with: transport) == .networkConnectionLost)
                    #expect(server.requests.map(\.body) == [Data(), body])
                }
                try await TestCall().send(to: server, with: transport)
            }
        }
    }
}

private struct Bytes: BodySource {
    let bytes: Data
    var length: Int64? { nil }

    init(_ bytes: Data) { self.bytes = bytes }

    func open() -> any BodyReader { Reader(rest: bytes) }

    private final class Reader: BodyReader {
        var rest: Data

        init(rest: Data) { self.rest = rest }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = rest.copyBytes(to: buffer, count: min(buffer.count, rest.count))
            rest = rest.dropFirst(count)
            return count
        }
    }
}
#endif
