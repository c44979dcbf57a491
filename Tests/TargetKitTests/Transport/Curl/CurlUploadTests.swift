// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
@testable import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// Responses that arrive before the body of the request has been sent.
@Suite("CurlTransport: early responses", .throttled, .timeLimit(.minutes(3)))
struct CurlUploadTests {
    /// More than the kernel's buffers on both sides.
    static let large = Data(count: 64 << 20)

    private func server(_ reply: TestServer.Response) throws -> TestServer {
        var options = TestServer.Options()
        options.onHead = { _ in .response(reply) }
        options.expectContinue = .ignore
        return try TestServer(options: options, response: .hang)
    }

    static let bodies: [(name: String, body: TransportRequest.Body)] = [
        ("empty", .none), ("small", .data(Data("x".utf8))), ("large", .data(Data(count: 1 << 20))),
        ("chunked", .stream(CountingSource(byteCount: 100_000, length: nil))),
    ]

    @Test(
        "A 417 to a request that expects 100 (Continue) is the response, and the request is sent once",
        arguments: bodies.indices
    )
    func expectationFailed(index: Int) async throws {
        let server = try server(.text("no", status: 417))
        let call = TestCall(
            method: "POST",
            headers: ["expect": "100-continue"],
            body: Self.bodies[index].body,
            timeout: .seconds(10)
        )
        let response = try await call.send(to: server, with: CurlTransport.another())
        #expect(response.head.statusCode == 417)
        #expect(server.headCount == 1)
    }

    @Test("A body that waits for 100 (Continue) is sent when the 100 arrives", arguments: bodies.indices)
    func expectation(index: Int) async throws {
        let server = try TestServer { .text("\($0.bodyByteCount)") }
        let (_, body) = Self.bodies[index]
        let call = TestCall(method: "POST", headers: ["Expect": "100-continue"], body: body)
        let transport = CurlTransport.another()
        let response = try await call.send(to: server, with: transport)
        #expect(response.text == ["0", "1", "1048576", "100000"][index])
        #expect(try await server.request(at: 0).headers["Expect"] == "100-continue")
        try await TestCall(method: "POST", body: body).send(to: server, with: transport)
        #expect(try await server.request(at: 1).headers["Expect"] == nil)
    }

    @Test("An early 2xx to an unread body is not a success: the call times out and states what was sent")
    func unreadBody() async throws {
        let server = try server([
            .head(status: 200, headers: ["Content-Length": "4"]), .text("fine"), .stopReading, .hang,
        ])
        var configuration = CurlTransport.Configuration.patient
        configuration.idleTimeout = .seconds(10)
        for timeout in [nil, Duration.seconds(10)] {
            let call = TestCall(method: "POST", body: .data(Self.large), timeout: timeout)
            let error = await #expect(throws: URLError.self) {
                try await call.send(to: server, with: CurlTransport(configuration: configuration))
            }
            #expect(error?.code == .timedOut)
            #expect(error?.localizedDescription.contains("status 200") == true)
            #expect(error?.localizedDescription.contains("of \(Self.large.count) bytes") == true)
        }
    }

    @Test(
        "A 2xx is not a success if the connection closes before the body has been sent",
        arguments: [
            [
                .head(status: 200, headers: ["Content-Length": "4", "Connection": "close"]), .text("fine"),
                .stopReading, .hang,
            ],
            [.head(status: 204, headers: ["Connection": "close"]), .stopReading, .hang],
            [.head(status: 200), .text("fine"), .stopReading, .halfClose],
            [.head(status: 200, headers: ["Content-Length": "4"]), .text("fine"), .close],
        ] as [TestServer.Response]
    )
    func closedUnderBody(reply: TestServer.Response) async throws {
        let server = try server(reply)
        let call = TestCall(method: "POST", body: .data(Self.large))
        let error = await #expect(throws: URLError.self) {
            try await call.send(to: server, with: CurlTransport.another())
        }
        #expect(error?.code == .networkConnectionLost)
    }

    @Test("A refusal is returned at once when the server does not read the body", arguments: [302, 400, 413, 500])
    func refusal(status: Int) async throws {
        let server = try server([
            .head(status: status, headers: ["Content-Length": "2"]), .text("no"), .stopReading, .hang,
        ])
        let call = TestCall(method: "POST", body: .data(Self.large))
        let response = try await call.send(to: server, with: CurlTransport.another())
        #expect(response.head.statusCode == status)
        #expect(response.text == "no")
    }

    @Test("A slow source is sent to its end although the response has arrived", arguments: [nil, 30])
    func slowSource(length: Int64?) async throws {
        let server = try server(.text("fine"))
        let call = TestCall(method: "POST", body: .stream(SlowSource(length: length)))
        #expect(try await call.send(to: server, with: CurlTransport.another()).text == "fine")
        let head = try await server.request(at: 0).rawHead.count
        let framing = length == nil ? "a\r\n\r\n".utf8.count * 3 + "0\r\n\r\n".utf8.count : 0
        // For the client, the upload is complete when the kernel has accepted the bytes.
        await server.waitForBytes(received: head + 30 + framing)
        #expect(server.bytesReceived == head + 30 + framing)
    }
}

/// 30 bytes in three pieces, with long pauses before the second and the third.
private struct SlowSource: BodySource {
    let length: Int64?

    func open() -> any BodyReader { Reader() }

    private final class Reader: BodyReader {
        private let never = DispatchSemaphore(value: 0)
        private var pieces = 0

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard pieces < 3 else { return 0 }
            if pieces > 0 { _ = never.wait(timeout: .now() + 1.5) }
            pieces += 1
            Data(count: 10).withUnsafeBytes { buffer.copyMemory(from: $0) }
            return 10
        }
    }
}
#endif
