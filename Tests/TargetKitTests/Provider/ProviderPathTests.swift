// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One test for each arrow of the path that a call takes, over the stub and the real transports alike.
@Suite("The path of a call", .throttled, .timeLimit(.minutes(2)))
struct ProviderPathTests {
    @Test("A target becomes a request of its method, path, query, headers and body", arguments: Backend.allCases)
    func targetToRequest(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let target = TestTarget(running.baseURL).with {
            $0.path = "/users/\("a/b c")/notes?draft=1"
            $0.method = .post
            $0.task = .json(["text": "hello"]).query(["page": 2])
            $0.headers = ["X-One": "1"]
        }
        _ = try await Provider<TestTarget>(transport: running.transport).request(target)
        let request = try #require(running.requests.first)
        #expect(running.requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.target == "/users/a%2Fb%20c/notes?draft=1&page=2")
        #expect(request.headers["x-one"] == "1")
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.text == #"{"text":"hello"}"#)
    }

    @Test("The endpoint closure decides what is sent", arguments: Backend.allCases)
    func endpointClosure(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let provider = Provider<TestTarget>(
            endpointClosure: {
                var endpoint = try Endpoint(target: $0)
                endpoint.headers["X-Closure"] = "endpoint"
                return endpoint
            },
            transport: running.transport
        )
        _ = try await provider.request(TestTarget(running.baseURL))
        #expect(running.requests.first?.headers["X-Closure"] == "endpoint")
    }

    @Test("The request closure changes the request, and may wait", arguments: Backend.allCases)
    func requestClosure(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let provider = Provider<TestTarget>(
            requestClosure: { endpoint in
                await Task.yield()
                var request = try endpoint.urlRequest()
                request.httpMethod = "PUT"
                request.httpBody = Data("late".utf8)
                return request
            },
            transport: running.transport
        )
        _ = try await provider.request(TestTarget(running.baseURL))
        #expect(running.requests.first?.method == "PUT")
        #expect(running.requests.first?.text == "late")
    }

    @Test("Plugins prepare the request in array order", arguments: Backend.allCases)
    func prepare(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let plugins = ["first", "second"].map { name in
            RecordingPlugin { request, _ in
                var request = request
                let soFar = request.value(forHTTPHeaderField: "X-Seen").map { $0 + "," } ?? ""
                request.setValue(soFar + name, forHTTPHeaderField: "X-Seen")
                return request
            }
        }
        let provider = Provider<TestTarget>(transport: running.transport, plugins: plugins)
        _ = try await provider.request(TestTarget(running.baseURL))
        #expect(running.requests.first?.headers["X-Seen"] == "first,second")
    }

    @Test("The response has status, headers, body and the request that went out", arguments: Backend.allCases)
    func response(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in
            .response(status: 203, headers: ["X-Answer": "yes"], data: Data("body".utf8))
        }
        let target = TestTarget(running.baseURL).with { $0.headers = ["X-One": "1"] }
        let response = try await Provider<TestTarget>(transport: running.transport).request(target)
        #expect(response.statusCode == 203)
        #expect(response.headers["x-answer"] == "yes")
        #expect(response.data == Data("body".utf8))
        #expect(response.request?.value(forHTTPHeaderField: "X-One") == "1")
        #expect(response.httpResponse?.statusCode == 203)
    }

    @Test(
        "Validation turns a status into an error that holds the response",
        arguments: Backend.allCases,
        [(404, TargetKitError.Kind.notFound), (500, .server), (401, .unauthorized), (399, .unexpectedStatus)]
    )
    func validation(_ backend: Backend, status: (code: Int, kind: TargetKitError.Kind)) async throws {
        let running = try RunningBackend(backend) { _ in
            .response(status: status.code, data: Data("why".utf8))
        }
        let plugin = RecordingPlugin()
        let provider = Provider<TestTarget>(transport: running.transport, plugins: [plugin])
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(TestTarget(running.baseURL).with { $0.validation = .successCodes })
        }
        #expect(error.stage == .status)
        #expect(error.kind == status.kind)
        #expect(error.response?.data == Data("why".utf8))
        #expect(plugin.events.contains(.didReceive(attempt: 0, .failure(.status))))
        let plain = try await provider.request(TestTarget(running.baseURL))
        #expect(plain.statusCode == status.code)
    }

    @Test("A connection that breaks is an error of the transport", arguments: Backend.allCases)
    func transportFailure(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in .failure(URLError(.networkConnectionLost)) }
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport).request(TestTarget(running.baseURL))
        }
        #expect(error.stage == .transport)
        #expect(error.kind == .connectionLost)
        #expect(error.underlying is URLError)
        #expect(error.request?.url?.path() == "/things")
    }

    @Test("A retry runs prepare again, with the attempt one higher", arguments: Backend.allCases)
    func retry(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { request in
            .response(status: request.headers["X-Token"] == "new" ? 200 : 401, data: Data())
        }
        let plugin = RecordingPlugin(
            prepare: { request, context in
                var request = request
                request.setValue(context.attempt == 0 ? "old" : "new", forHTTPHeaderField: "X-Token")
                return request
            },
            retry: { result, context in
                (try? result.get().statusCode) == 401 && context.attempt == 0 ? .retry(after: .zero) : .doNotRetry
            }
        )
        let provider = Provider<TestTarget>(transport: running.transport, plugins: [plugin])
        let response = try await provider.request(TestTarget(running.baseURL))
        #expect(response.statusCode == 200)
        #expect(running.requests.map { $0.headers["X-Token"] } == ["old", "new"])
        #expect(
            plugin.events == [
                .prepare(attempt: 0), .willSend(attempt: 0), .didReceive(attempt: 0, .status(401)), .retry(attempt: 0),
                .prepare(attempt: 1), .willSend(attempt: 1), .didReceive(attempt: 1, .status(200)), .retry(attempt: 1),
                .process(.status(200)),
            ]
        )
    }

    @Test("What process returns is what the caller gets", arguments: Backend.allCases)
    func process(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let plugin = RecordingPlugin(process: { result, _ in
            result.map { response in
                var response = response
                response.data = Data("changed".utf8)
                return response
            }
        })
        let provider = Provider<TestTarget>(transport: running.transport, plugins: [plugin])
        let response = try await provider.request(TestTarget(running.baseURL))
        #expect(response.data == Data("changed".utf8))
    }

    @Test("The decoding call brings the value at the key path", arguments: Backend.allCases)
    func decoding(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in
            .response(status: 200, data: Data(#"{"data":{"items":[{"name":"tea"}]}}"#.utf8))
        }
        struct Item: Decodable, Sendable, Equatable { var name: String }
        let provider = Provider<TestTarget>(transport: running.transport)
        let item = try await provider.request(
            TestTarget(running.baseURL),
            as: Item.self,
            atKeyPath: "data.items.0",
            options: .setting(\.decoder, JSONDecoder())
        )
        #expect(item == Item(name: "tea"))
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(TestTarget(running.baseURL), as: Item.self)
        }
        #expect(error.stage == .decoding)
        #expect(error.response?.statusCode == 200)
    }

    @Test("The callback call completes once, on its queue", arguments: Backend.allCases)
    func callback(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let queue = DispatchQueue(label: "test.callback")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "here")
        let results = Recorder<(status: Int?, isOnQueue: Bool)>()
        Provider<TestTarget>(transport: running.transport)
            .request(TestTarget(running.baseURL), on: queue) { result in
                results.append((try? result.get().statusCode, DispatchQueue.getSpecific(key: key) == "here"))
            }
        let first = await results.waitForCount(1)
        #expect(first.map(\.status) == [200])
        #expect(first.map(\.isOnQueue) == [true])
        queue.sync {}
        #expect(results.count == 1)
    }
}
