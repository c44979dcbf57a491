// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    /// The requirements of a transport that creates its responses itself, for example a stub or a cache.
    public static let stubRequirements = stubResponses + stubCancelling + stubBodies

    private static let stubResponses: [StubRequirement] = [
        StubRequirement("returnsResponse", description: "It returns the response's status, header fields and body") {
            make in
            let transport = make { _ in .response(status: 418, headers: ["X-One": "1"], data: Data("teapot".utf8)) }
            let response = try await transport.send(TestCall().request(to: nowhere))
            try expect("the status", value: response.head.statusCode, is: 418)
            try expect("X-One", value: response.head.headers["x-one"], is: "1")
            try expect("the body", value: response.text, is: "teapot")
        },
        StubRequirement("passesRequest", description: "It passes the request unchanged") { make in
            let asked = Recorder<TransportRequest>()
            let transport = make { request in
                asked.append(request)
                return .response(status: 200, data: Data())
            }
            let call = TestCall(path: "/a%2Fb?c=d", method: "PUT", headers: ["X-A": "b"], body: .data(Data("e".utf8)))
            _ = try await transport.send(call.request(to: nowhere))
            try expect("the number of requested responses", value: asked.count, is: 1)
            let request = asked.elements[0].urlRequest
            try expect("the URL", value: request.url?.absoluteString, is: nowhere.absoluteString + "/a%2Fb?c=d")
            try expect("the method", value: request.httpMethod, is: "PUT")
            try expect("X-A", value: request.value(forHTTPHeaderField: "X-A"), is: "b")
            guard case .data(Data("e".utf8)) = asked.elements[0].body else {
                throw ExpectationFailure("the body is a different one")
            }
        },
        StubRequirement(
            "returnsConcurrentResponses",
            description: "It returns each of many concurrent calls its own response"
        ) {
            make in
            let transport = make { request in
                await Task.yield()
                return .response(status: 200, data: Data((request.urlRequest.url?.path ?? "").utf8))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let response = try await transport.send(TestCall(path: "/\(number)").request(to: nowhere))
                        try expect("the body", value: response.text, is: "/\(number)")
                    }
                }
                try await group.waitForAll()
            }
        },
        StubRequirement(
            "reportsProgress",
            description: "Upload and download progress is reported completely before the call returns"
        ) { make in
            let bytes = noise(300_000)
            let transport = make { _ in .response(status: 200, data: bytes) }
            let sent = noise(100_000)
            let source = ConformanceSource(bytes: sent, length: nil)
            let file = try ConformanceFile(sent)
            for body in [TransportRequest.Body.data(sent), .file(file.url), .stream(source)] {
                let reports = Recorder<TransferProgress>()
                let call = TestCall(method: "PUT", body: body, progress: { reports.append($0) })
                _ = try await transport.send(call.request(to: nowhere))
                try expectRise(reports.elements, direction: .upload, to: 100_000)
                try expectRise(reports.elements, direction: .download, to: 300_000)
            }
        },
    ]

    private static let stubCancelling: [StubRequirement] = [
        StubRequirement("throwsUnchanged", description: "It throws an error unchanged") { make in
            struct Failure: Error, Equatable { let number: Int }
            let isThrown = Locked(false)
            let transport = make { _ in
                if isThrown.withLock({ $0 }) { throw Failure(number: 7) }
                return .failure(Failure(number: 7))
            }
            for isThrowing in [false, true] {
                isThrown.withLock { $0 = isThrowing }
                let error = try await TestCall().error(at: nowhere, with: transport)
                try expect("the error", value: error as? Failure, is: Failure(number: 7))
            }
        },
        StubRequirement(
            "endsInCancelledTask",
            description: "A call in a cancelled task ends as cancelled, without requesting a response"
        ) {
            make in
            let asked = Recorder<Int>()
            let transport = make { _ in
                asked.append(1)
                return .response(status: 200, data: Data())
            }
            try await expectCancelledBefore { _ = try await transport.send(TestCall().request(to: nowhere)) }
            try expect("the number of requested responses", value: asked.count, is: 0)
        },
        StubRequirement(
            "cancelsWhileWaiting",
            description: "Cancelling while it waits for the response ends the call as cancelled"
        ) { make in
            let gate = Gate()
            let transport = make { _ in
                try await gate.waitUnlessCancelled()
                return .response(status: 200, data: Data())
            }
            let call = Task { _ = try await transport.send(TestCall().request(to: nowhere)) }
            await gate.waitForArrivals()
            call.cancel()
            try await expectCancelled(call)
        },
        StubRequirement(
            "cancelsUncooperativeResponse",
            description: "Cancelling ends the call as cancelled even if the response ignores it"
        ) { make in
            let gate = Gate()
            let transport = make { _ in
                await gate.wait()
                return .response(status: 200, data: Data())
            }
            let call = Task { _ = try await transport.send(TestCall().request(to: nowhere)) }
            await gate.waitForArrivals()
            call.cancel()
            gate.open()
            try await expectCancelled(call)
        },
    ]

    /// A URL for requests that aren't sent.
    static let nowhere = URL(string: "http://127.0.0.1:1") ?? URL(fileURLWithPath: "/")
}
