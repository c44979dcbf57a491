// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is URLSessionTransport's own; what it shares with every transport is in `TransportConformanceTests`.
@Suite("URLSessionTransport", .throttled, .timeLimit(.minutes(3)))
struct URLSessionTransportTests {
    private let transport = URLSessionTransport.another()

    private func call(
        _ base: URL,
        method: String = "GET",
        body: TransportRequest.Body = .none,
        timeout: Duration? = nil
    ) -> TransportRequest {
        var request = URLRequest(url: base)
        request.httpMethod = method
        return TransportRequest(
            urlRequest: request,
            body: body,
            destination: .memory(limit: 1 << 20),
            timeout: timeout
        )
    }

    private func error(_ request: TransportRequest) async -> URLError? {
        await #expect(throws: URLError.self) { try await transport.send(request) }
    }

    @Test("An error contains the URL and a description")
    func errorInfo() async throws {
        let port = try ClosedPort()
        let error = try #require(await error(call(port.baseURL)))
        #expect(error.code == .cannotConnectToHost)
        #expect(error.failingURL == port.baseURL)
        #expect(!error.localizedDescription.isEmpty)
    }

    @Test("Set-Cookie fields that Foundation joined are separate, whatever commas their values have")
    func setCookie() async throws {
        let fields = [
            "cfg=w=3,h=4", "a=b,c; Path=/", "d=e; Expires=Wed, 09 Jun 2027 10:18:14 GMT", #"f="1,g=2"; Secure"#, "h=i",
        ]
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field(name: "Set-Cookie", value: $0) })
        let server = try TestServer(response: .status(200, headers: headers))
        let response = try await transport.send(call(server.baseURL))
        #expect(response.head.headers.values(for: .setCookie) == fields)
    }

    @Test("A body for a GET is refused before anything is sent")
    func bodyOfGet() async throws {
        let server = try TestServer(response: .status(200))
        let error = try #require(await error(call(server.baseURL, body: .data(Data("x".utf8)))))
        #expect(error.code == .dataLengthExceedsMaximum)
        #expect(error.localizedDescription.contains("GET"))
        #expect(server.connectionCount == 0)
    }

    @Test("A body's file that is not a regular file is refused with its name")
    func bodyInFolder() async throws {
        let server = try TestServer(response: .status(200))
        let folder = FileManager.default.temporaryDirectory
        let error = try #require(await error(call(server.baseURL, method: "PUT", body: .file(folder))))
        #expect(error.code == .fileIsDirectory)
        #expect(error.localizedDescription.contains(folder.path))
        let device = call(server.baseURL, method: "PUT", body: .file(URL(fileURLWithPath: "/dev/null")))
        #expect(await self.error(device)?.code == .cannotOpenFile)
    }

    @Test("A source whose length differs from the declared one fails the call", arguments: [2, 4] as [Int64])
    func sourceOfWrongLength(announced: Int64) async throws {
        let server = try TestServer(response: .status(200))
        let body = TransportRequest.Body.stream(FixedSource(bytes: Data("abc".utf8), length: announced))
        #expect(await error(call(server.baseURL, method: "PUT", body: body))?.code == .requestBodyStreamExhausted)
        #expect(server.requestCount == 0)
    }

    @Test("Shutting down ends running calls and refuses later ones, also when repeated")
    func shutdown() async throws {
        let server = try TestServer(response: .hang)
        let calls = (0..<4).map { _ in Task { try await transport.send(call(server.baseURL)) } }
        await server.waitForRequests(4)
        transport.shutdown()
        transport.shutdown()
        for call in calls {
            let error = await #expect(throws: URLError.self) { try await call.value }
            #expect(error?.code == .cancelled)
            #expect(error?.localizedDescription.contains("shut down") == true)
        }
        #expect(await error(call(server.baseURL))?.code == .cancelled)
        await server.waitForConnections(closed: 4)
        #expect(server.connectionCount == 4)
    }

    @Test("A released transport finishes its exchanges, then closes its connections")
    func release() async throws {
        let gate = Gate()
        let server = try TestServer(
            response: TestServer.Response(steps: [.pause(until: gate)] + TestServer.Response.text("x").steps)
        )
        var transport: URLSessionTransport? = URLSessionTransport.another()
        weak let released = transport
        let call = Task { [transport, request = call(server.baseURL)] in try await transport?.send(request) }
        await server.waitForRequests(1)
        transport = nil
        gate.open()
        #expect(try await call.value?.head.statusCode == 200)
        await server.waitForConnections(closed: 1)
        #expect(released == nil)
    }

    @Test("The caller's configuration stays as it was")
    func configuration() {
        let configuration = URLSessionConfiguration.default
        let cache = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
        configuration.urlCache = cache
        configuration.timeoutIntervalForRequest = 5
        _ = URLSessionTransport(configuration: configuration)
        #expect(configuration.urlCache === cache)
        #expect(configuration.httpShouldSetCookies)
    }

    @Test("The configuration's idle timeout applies, unless the request has a timeout")
    func idleTimeout() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.4
        let transport = URLSessionTransport(configuration: configuration)
        let silent = try TestServer(response: .hang)
        let error = await #expect(throws: URLError.self) { try await transport.send(call(silent.baseURL)) }
        #expect(error?.code == .timedOut)
        let slow = try TestServer(
            response: TestServer.Response(
                steps: [.wait(for: .milliseconds(1_500))] + TestServer.Response.text("late").steps
            )
        )
        let response = try await transport.send(call(slow.baseURL, timeout: .seconds(20)))
        #expect(response.head.statusCode == 200)
    }

    @Test("A thousand hanging calls are cancelled once each, and the next call works")
    func manyCancels() async throws {
        let server = try TestServer { request in request.path == "/next" ? .text("x") : .hang }
        let calls = (0..<1_000).map { _ in Task { try await transport.send(call(server.baseURL)) } }
        await server.waitForHeads(1)
        calls.forEach { $0.cancel() }
        for call in calls {
            let error = await #expect(throws: URLError.self) { try await call.value }
            #expect(error?.code == .cancelled)
        }
        let next = try await transport.send(call(server.baseURL.appendingPathComponent("next")))
        #expect(next.head.statusCode == 200)
    }

    @Test("A background configuration is refused with an explanation, and nothing is sent")
    func background() async throws {
        let server = try TestServer(response: .status(200))
        #if canImport(FoundationNetworking)
        let configuration = URLSessionConfiguration.default
        configuration.identifier = "org.example.background"
        #else
        let configuration = URLSessionConfiguration.background(withIdentifier: "org.example.background")
        #endif
        let transport = URLSessionTransport(configuration: configuration)
        let error = await #expect(throws: URLError.self) { try await transport.send(call(server.baseURL)) }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.localizedDescription.contains("background") == true)
        #expect(server.connectionCount == 0)
        transport.shutdown()
        let later = await #expect(throws: URLError.self) { try await transport.send(call(server.baseURL)) }
        #expect(later?.code == .unsupportedURL)
    }

    #if canImport(FoundationNetworking)
    @Test("On Linux a redirect without a Location is a response without a body")
    func redirectWithoutLocation() async throws {
        let empty = try TestServer(response: .status(302))
        #expect(try await transport.send(call(empty.baseURL)).head.statusCode == 302)
        let full = try TestServer(response: .text("where?", status: 302))
        #expect(try await transport.send(call(full.baseURL, method: "HEAD")).head.statusCode == 302)
    }

    @Test("On Linux the values of a repeated field are in order if their spelling is equal, else by spelling")
    func repeatedFields() async throws {
        let fields: HTTPHeaders = ["X-A": "1", "x-a": "2", "X-A": "3", "X-a": "4", "Via": "a", "Via": "b"]
        let server = try TestServer(response: .status(200, headers: fields))
        let headers = try await transport.send(call(server.baseURL)).head.headers
        #expect(headers["X-A"] == "1, 3, 4, 2")
        #expect(headers["Via"] == "a, b")
    }
    #endif
}

private struct FixedSource: BodySource {
    let bytes: Data
    let length: Int64?

    func open() throws -> any BodyReader { Reader(bytes) }

    private final class Reader: BodyReader {
        private var bytes: Data

        init(_ bytes: Data) {
            self.bytes = bytes
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let piece = bytes.prefix(buffer.count)
            piece.withUnsafeBytes { buffer.copyMemory(from: $0) }
            bytes = bytes.dropFirst(piece.count)
            return piece.count
        }
    }
}
