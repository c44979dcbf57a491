// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let failures: [TransportRequirement] = [
        TransportRequirement("refusedConnection", description: "A refused connection is .cannotConnectToHost") {
            transport in
            let port = try ClosedPort()
            let call = TestCall()
            try expect(try await call.error(at: port.baseURL, with: transport), isOneOf: [.cannotConnectToHost])
            try await call.expectNextCallWorks(transport)
        },
        TransportRequirement(
            "closedBeforeHead",
            description: "A connection that is closed before the head is .networkConnectionLost"
        ) { transport in
            for reply in [TestServer.Response.close, .reset] {
                let server = try TestServer(response: reply)
                try await TestCall().expectFailure(.networkConnectionLost, at: server, with: transport)
            }
        },
        TransportRequirement(
            "closedWithinHead",
            description: "A connection that is closed within the head is .networkConnectionLost"
        ) { transport in
            for text in ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n"] {
                let server = try TestServer(response: .raw(text))
                try await TestCall().expectFailure(.networkConnectionLost, at: server, with: transport)
            }
        },
        TransportRequirement("truncatedBody", description: "A truncated body is .networkConnectionLost") { transport in
            let chunked: TestServer.Step = .head(status: 200, headers: ["Transfer-Encoding": "chunked"])
            let counted: TestServer.Step = .head(status: 200, headers: ["Content-Length": "1000"])
            let replies: [TestServer.Response] = [
                [counted, .body(noise(999)), .close], [counted, .close], [counted, .body(noise(10)), .reset],
                [chunked, .chunk(noise(10)), .close], [chunked, .text("ff\r\nabc"), .close], [chunked, .close],
            ]
            for reply in replies {
                let server = try TestServer(response: reply)
                try await TestCall().expectFailure(.networkConnectionLost, at: server, with: transport)
            }
        },
        TransportRequirement("notHTTP", description: "A response that isn't HTTP is an error") { transport in
            for text in ["garbage\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "SSH-2.0-OpenSSH_9.6\r\n"] {
                let server = try TestServer(response: .raw(text))
                try await TestCall().expectFailure(
                    .badServerResponse,
                    .cannotParseResponse,
                    .networkConnectionLost,
                    at: server,
                    with: transport
                )
            }
        },
        TransportRequirement("malformedChunk", description: "A malformed chunk is an error") { transport in
            let head: TestServer.Step = .head(status: 200, headers: ["Transfer-Encoding": "chunked"])
            let server = try TestServer(response: [head, .text("zz\r\nabc\r\n"), .close])
            try await TestCall().expectFailure(
                .badServerResponse,
                .cannotParseResponse,
                .networkConnectionLost,
                at: server,
                with: transport
            )
        },
        TransportRequirement("unwritableFile", description: "A file that can't be written is a URLError") {
            transport in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
            let server = try TestServer(response: .text("x"))
            let call = TestCall(destination: .file(folder.appendingPathComponent("file")))
            let error = try await call.error(at: server.baseURL, with: transport)
            try expect(error is URLError, text: "the error was \(error), expected a URLError")
            try await call.expectNextCallWorks(transport)
        },
        TransportRequirement("timeoutWithoutHead", description: "The timeout ends a call that waits for the head") {
            transport in
            let server = try TestServer(response: .hang)
            try await expectTimeout(at: server, with: transport)
        },
        TransportRequirement("timeoutOfSlowBody", description: "The timeout ends a call whose body arrives slowly") {
            transport in
            let server = try TestServer(response: [
                .head(status: 200, headers: ["Content-Length": "10000"]),
                .drip(noise(10_000), chunkSize: 1, every: .milliseconds(20)),
            ])
            try await expectTimeout(at: server, with: transport)
        },
        TransportRequirement(
            "timeoutOfUnreadUpload",
            description: "The timeout ends a call whose body the server doesn't read"
        ) {
            transport in
            var options = TestServer.Options()
            options.onConnect = { _ in [.stopReading, .hang] }
            let server = try TestServer(options: options, response: .hang)
            try await expectTimeout(
                TestCall(method: "PUT", body: .data(Data(count: 16 << 20))),
                at: server,
                with: transport
            )
        },
        TransportRequirement("timeoutOfZero", description: "A timeout of zero or less ends the call") { transport in
            let server = try TestServer(response: .text("x"))
            for timeout in [Duration.zero, .seconds(-1)] {
                let call = TestCall(timeout: timeout)
                try expect(try await call.error(at: server.baseURL, with: transport), isOneOf: [.timedOut])
            }
        },
        TransportRequirement("timeoutNotReached", description: "A timeout that isn't reached has no effect") {
            transport in
            let server = try TestServer(response: .text("in time"))
            for timeout in [Duration.seconds(20), .seconds(1 << 40 as Int64)] {
                let response = try await TestCall(timeout: timeout).send(to: server, with: transport)
                try expect("the body", value: response.text, is: "in time")
            }
        },
    ]

    /// The timeout is 300 ms, because Foundation counts whole seconds.
    private static func expectTimeout(
        _ call: TestCall = TestCall(),
        at server: TestServer,
        with transport: any Transport
    ) async throws {
        var call = call
        call.timeout = .milliseconds(300)
        let start = ContinuousClock.now
        try await call.expectFailure(.timedOut, at: server, with: transport)
        let taken = ContinuousClock.now - start
        try expect(taken >= .milliseconds(295), text: "it ended after \(taken), before the timeout")
        try expect(taken < .seconds(25), text: "it ended after \(taken), long after the timeout")
    }
}
