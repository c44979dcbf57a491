// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    private static let json: HTTPHeaders = ["Content-Type": "application/json", "Content-Length": "1000"]

    static let streamEndings: [TransportRequirement] = [
        TransportRequirement(
            "truncatedStream",
            description: "A streamed body that is truncated is .networkConnectionLost, after the bytes that arrived"
        ) {
            transport in
            let chunked: TestServer.Step = .head(
                status: 200,
                headers: ["Content-Type": "application/json", "Transfer-Encoding": "chunked"]
            )
            let counted: TestServer.Step = .head(status: 200, headers: json)
            let replies: [(TestServer.Response, Int)] = [
                ([counted, .body(noise(999)), .close], 999), ([counted, .close], 0),
                ([chunked, .chunk(noise(10)), .close], 10), ([chunked, .close], 0),
            ]
            for (reply, count) in replies {
                let server = try TestServer(response: reply)
                let (_, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
                var read = Data()
                do {
                    for try await piece in body { read.append(piece) }
                    throw ExpectationFailure("the body ended without an error")
                } catch let error as URLError {
                    try expect(error, isOneOf: [.networkConnectionLost])
                }
                try expect(read == noise(count), text: "\(read.count) bytes arrived, expected \(count)")
                try await TestCall().expectNextCallWorks(transport)
            }
        },
        TransportRequirement(
            "throwsBeforeStream",
            description: "The call throws an error that occurs before the head of a streamed body"
        ) { transport in
            let server = try TestServer(response: .close)
            try await TestCall(buffer: 1).expectFailure(.networkConnectionLost, at: server, with: transport)
            let error = try await TestCall(buffer: 1).error(at: ClosedPort().baseURL, with: transport)
            try expect(error, isOneOf: [.cannotConnectToHost])
        },
        TransportRequirement(
            "releasesStream",
            description: "Releasing a body before its end ends the exchange, read or not"
        ) {
            transport in
            for isRead in [true, false] {
                let size = 8 << 20
                // The head announces an additional byte, so that the body doesn't end.
                let server = try TestServer(response: [
                    .head(status: 200, headers: ["Content-Type": "application/json", "Content-Length": "\(size + 1)"]),
                    .generate(byteCount: Int64(size), repeating: noise(65_536)), .hang,
                ])
                do {
                    let (_, body) = try await TestCall(buffer: 1 << 16).open(at: server, with: transport)
                    var iterator = body.makeAsyncIterator()
                    if isRead { try expect(try await iterator.next()?.isEmpty == false, text: "no chunk arrived") }
                }
                await server.waitForConnections(closed: 1)
                try await TestCall().expectNextCallWorks(transport)
            }
        },
        TransportRequirement(
            "cancelsStreamBeforeHead",
            description: "Cancelling before the head of a streamed body ends the call and the connection"
        ) {
            transport in
            let server = try TestServer(response: .hang)
            let call = Task { _ = try await TestCall(buffer: 1).open(at: server, with: transport) }
            await server.waitForRequests(1)
            call.cancel()
            try await expectCancelled(call)
            await server.waitForConnections(closed: 1)
        },
        TransportRequirement(
            "cancelsStreamReading",
            description: "Cancelling the task that reads a body ends the body as cancelled, and ends the connection"
        ) {
            transport in
            for sent in [0, 100] {
                let server = try TestServer(response: [.head(status: 200, headers: json), .body(noise(sent)), .hang])
                let (_, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
                let isReading = Gate()
                let reading = Task {
                    var count = 0
                    isReading.open()
                    for try await piece in body { count += piece.count }
                }
                await isReading.wait()
                reading.cancel()
                try await expectCancelled(reading)
                await server.waitForConnections(closed: 1)
                try await TestCall().expectNextCallWorks(transport)
            }
        },
        TransportRequirement(
            "readsStreamInCancelledTask",
            description: "Reading a body in a cancelled task ends as cancelled"
        ) {
            transport in
            let server = try TestServer(response: [.head(status: 200, headers: json), .hang])
            let (_, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
            try await expectCancelledBefore { for try await _ in body {} }
            await server.waitForConnections(closed: 1)
        },
        TransportRequirement("timeoutIncludesStream", description: "The timeout of a call includes reading its body") {
            transport in
            let server = try TestServer(response: [
                .head(status: 200, headers: json), .drip(noise(1_000), chunkSize: 1, every: .milliseconds(20)),
            ])
            try await expectTimeout(at: server, with: transport)
        },
        TransportRequirement(
            "timeoutEndsUnreadStream",
            description: "The timeout of a call ends a body that isn't read"
        ) {
            transport in
            let server = try TestServer(response: [.head(status: 200, headers: json), .body(noise(500)), .hang])
            try await expectTimeout(at: server, with: transport) { await server.waitForConnections(closed: 1) }
        },
        TransportRequirement(
            "timeoutIncludesStreamHead",
            description: "The timeout of a call with a streamed body includes waiting for the head"
        ) {
            transport in
            let server = try TestServer(response: .hang)
            let call = TestCall(buffer: 1, timeout: .milliseconds(300))
            try await call.expectFailure(.timedOut, at: server, with: transport)
        },
    ]

    /// Opens the body within the timeout, and reads it after that.
    private static func expectTimeout(
        at server: TestServer,
        with transport: any Transport,
        beforeReading: () async -> Void = {}
    ) async throws {
        let call = TestCall(buffer: 1, timeout: .seconds(5))
        let (_, body) = try await call.open(at: server, with: transport)
        await beforeReading()
        do {
            let count = try await body.bytes.count
            throw ExpectationFailure("the body ended after \(count) bytes without an error")
        } catch let error as URLError {
            try expect(error, isOneOf: [.timedOut])
        }
        await server.waitForConnections(closed: 1)
        try await call.expectNextCallWorks(transport)
    }
}
