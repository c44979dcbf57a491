// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let cancelling: [TransportRequirement] = [
        TransportRequirement("endsInCancelledTask", description: "A call in a cancelled task ends as cancelled") {
            transport in
            let server = try TestServer(response: .text("x"))
            try await expectCancelledBefore { _ = try await TestCall().send(to: server, with: transport) }
            try expect("the number of requests", value: server.requestCount, is: 0)
        },
        TransportRequirement(
            "cancelsBeforeHead",
            description: "Cancelling before the head ends the call and the connection"
        ) {
            transport in
            try await expectCancel(reply: .hang, with: transport)
        },
        TransportRequirement(
            "cancelsWithinBody",
            description: "Cancelling within the body ends the call and the connection"
        ) {
            transport in
            try await expectCancel(reply: unfinished, with: transport)
        },
        TransportRequirement(
            "cancelsDownload",
            description: "Cancelling a download to a file ends the call and the connection"
        ) {
            transport in
            let file = try ConformanceFile()
            try await expectCancel(TestCall(destination: .file(file.url)), reply: unfinished, with: transport)
        },
        TransportRequirement(
            "cancelsUpload",
            description: "Cancelling while the body is sent ends the call and the connection"
        ) {
            transport in
            let isCancelled = Gate()
            var options = TestServer.Options()
            // Reads the bytes that were already sent, and then the end of the connection.
            options.onConnect = { _ in [.stopReading, .pause(until: isCancelled), .resumeReading] }
            let server = try TestServer(options: options, response: .hang)
            let body = TransportRequest.Body.data(Data(count: 16 << 20))
            let call = Task {
                _ = try await TestCall(method: "PUT", body: body).send(to: server, with: transport)
            }
            await server.waitForConnections(1)
            call.cancel()
            try await expectCancelled(call)
            isCancelled.open()
            await server.waitForConnections(closed: 1)
            try expect("the number of complete requests", value: server.requestCount, is: 0)
        },
        TransportRequirement(
            "cancelsFromProgress",
            description: "Cancelling from the call's own progress closure ends the call"
        ) {
            transport in
            let server = try TestServer(response: unfinished)
            let call = Locked<Task<Void, any Error>?>(nil)
            let gate = Gate()
            let progress = { @Sendable (progress: TransferProgress) in
                if progress.direction == .download { call.withLock { $0 }?.cancel() }
            }
            let task = Task {
                await gate.wait()
                _ = try await TestCall(progress: progress).send(to: server, with: transport)
            }
            call.withLock { $0 = task }
            gate.open()
            try await expectCancelled(task)
        },
        TransportRequirement(
            "cancelsAtCompletion",
            description: "Cancelling at the moment of completion ends each call exactly once"
        ) {
            transport in
            let server = try TestServer(response: .text("x"))
            for round in 0..<200 {
                // The delays range from zero to after the response.
                let result = await ending(cancelledAfter: round * round / 5) {
                    try await TestCall().send(to: server, with: transport)
                }
                if case .failure(let error) = result {
                    try expect(isCancellation(error), text: "the error was \(error), expected a cancellation")
                }
            }
            try await TestCall().expectNextCallWorks(transport)
        },
        TransportRequirement(
            "cancelsHundredCalls",
            description: "A hundred calls without a response can be cancelled, and a call after them works"
        ) {
            transport in
            let server = try TestServer(response: .hang)
            let calls = (0..<100).map { _ in Task { _ = try await TestCall().send(to: server, with: transport) }
            }
            await server.waitForHeads(1)
            calls.forEach { $0.cancel() }
            for call in calls { try await expectCancelled(call) }
            try await TestCall().expectNextCallWorks(transport)
        },
    ]

    /// A response without the end of its body.
    private static let unfinished: TestServer.Response = [
        .head(status: 200, headers: ["Content-Length": "1000"]), .body(noise(100)), .hang,
    ]

    private static func expectCancel(
        _ call: TestCall = TestCall(),
        reply: TestServer.Response,
        with transport: any Transport
    ) async throws {
        let server = try TestServer(response: reply)
        let task = Task { _ = try await call.send(to: server, with: transport) }
        await server.waitForRequests(1)
        task.cancel()
        try await expectCancelled(task)
        await server.waitForConnections(closed: 1)
        try await call.expectNextCallWorks(transport)
    }

    static func expectCancelled(_ call: Task<Void, any Error>) async throws {
        let result = await Deadline.value(.seconds(20)) { await call.result }
        switch result {
        case nil: throw ExpectationFailure("the call didn't end within 20 seconds after it was cancelled")
        case .success?: throw ExpectationFailure("the call returned a response although it was cancelled")
        case .failure(let error)?:
            try expect(isCancellation(error), text: "the error was \(error), expected a cancellation")
        }
    }

    /// Checks that a function ends as cancelled in a task that is already cancelled.
    static func expectCancelledBefore(_ work: @escaping @Sendable () async throws -> Void) async throws {
        let gate = Gate()
        let call = Task {
            await gate.wait()
            try await work()
        }
        call.cancel()
        gate.open()
        try await expectCancelled(call)
    }
}
