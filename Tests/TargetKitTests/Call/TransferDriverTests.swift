// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransfers
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Drivers written with the public API.
@Suite("Drivers of transfers", .throttled, .timeLimit(.minutes(2)))
struct TransferDriverTests {
    /// A driver made of closures.
    private struct Driver: TransferDriver {
        let respond: @Sendable (URLRequest, CallExchanges) async throws -> Response
        var ended: @Sendable (Result<Response, TargetKitError>, CallExchanges) async -> Void = { _, _ in }

        func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
            try await respond(request, exchanges)
        }

        func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
            await ended(result, exchanges)
        }
    }

    /// Notes the hooks, by context, and adds a field to each request.
    private struct Observer: Plugin {
        let events = Recorder<String>()
        let contexts = Recorder<RequestContext.ID>()
        var retries = 0

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("yes", forHTTPHeaderField: "X-Prepared")
            return request
        }

        func willSend(_ request: URLRequest, context: RequestContext) {
            contexts.append(context.id)
            events.append("\(context.attempt) \(request.httpMethod ?? "") \(request.url?.lastPathComponent ?? "")")
        }

        func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
            events.append("received")
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            events.append("asked")
            guard case .failure = result, context.attempt < retries else { return .doNotRetry }
            return .retry(after: .zero)
        }

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            events.append("processed")
            return result
        }
    }

    private let requests = Recorder<URLRequest>()

    /// A transport that responds with the status in the last component of the path, or else 200.
    private var transport: StubTransport {
        StubTransport { [requests] request in
            requests.append(request.urlRequest)
            let status = request.urlRequest.url.flatMap { Int($0.lastPathComponent) } ?? 200
            return .response(status: status, data: try request.body.bytes())
        }
    }

    private func target(_ driver: Driver, body: Data? = nil) -> TestTarget {
        TestTarget(.example).with {
            $0.task = (body.map { HTTPTask.data($0) } ?? .plain).driver(driver)
            if body != nil { $0.method = .post }
            $0.validation = .successCodes
        }
    }

    private static func request(_ request: URLRequest, _ name: String, _ method: String = "GET") -> URLRequest {
        var request = request
        request.url = request.url?.appending(path: name)
        request.httpMethod = method
        request.httpBody = nil
        return request
    }

    @Test("Each request of a driver passes the plugins once, and its last response is the call's")
    func requestsPassPlugins() async throws {
        let driver = Driver { request, exchanges in
            _ = try await exchanges.send(Self.request(request, "first"))
            return try await exchanges.send(Self.request(request, "second", "PUT"), body: .data(Data("part".utf8)))
        }
        let observer = Observer()
        let provider = Provider<TestTarget>(transport: transport, plugins: [observer])
        let response = try await provider.request(target(driver))
        #expect(response.data == Data("part".utf8))
        #expect(
            observer.events.elements
                == ["0 GET first", "received", "0 PUT second", "received", "asked", "processed"]
        )
        #expect(requests.elements.map { $0.value(forHTTPHeaderField: "X-Prepared") } == ["yes", "yes"])
    }

    @Test("A request without a body of its own has that of the task, and one with .none has none")
    func bodies() async throws {
        let driver = Driver { request, exchanges in
            let empty = try await exchanges.send(Self.request(request, "empty", "POST"), body: .none)
            #expect(empty.data.isEmpty)
            guard case .data(let data) = try exchanges.body else { throw Boom() }
            #expect(data == Data("whole".utf8))
            return try await exchanges.send(request)
        }
        let provider = Provider<TestTarget>(transport: transport)
        let response = try await provider.request(target(driver, body: Data("whole".utf8)))
        #expect(response.data == Data("whole".utf8))
    }

    private enum DoneKey: RequestContextKey { typealias Value = Int }

    @Test("A failed request is an attempt that plugins may retry, and the driver continues with what it has stored")
    func retries() async throws {
        let driver = Driver { request, exchanges in
            if exchanges.context[DoneKey.self] == nil {
                _ = try await exchanges.send(Self.request(request, "first"))
                exchanges.context[DoneKey.self] = 1
                _ = try await exchanges.send(Self.request(request, "503"))
            }
            return try await exchanges.send(Self.request(request, "last"))
        }
        let observer = Observer(retries: 1)
        let provider = Provider<TestTarget>(transport: transport, plugins: [observer])
        _ = try await provider.request(target(driver))
        let sent = observer.events.elements.filter { $0.hasPrefix("0 ") || $0.hasPrefix("1 ") }
        #expect(sent == ["0 GET first", "0 GET 503", "1 GET last"])
    }

    @Test(
        "An error of the driver's own ends the call, plugins aren't asked, and the stage tells whether it has sent a request",
        arguments: [(0, false), (1, false), (1, true)]
    )
    func ownError(count: Int, isConcurrent: Bool) async throws {
        let driver = Driver { request, exchanges in
            let exchanges = isConcurrent ? exchanges.concurrent() : exchanges
            for _ in 0..<count { _ = try await exchanges.send(Self.request(request, "part", "POST")) }
            throw Boom()
        }
        let observer = Observer(retries: 1)
        let provider = Provider<TestTarget>(transport: transport, plugins: [observer])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target(driver)) }
        #expect(error?.stage == (count == 0 ? .request : .transport))
        #expect(error?.underlying is Boom)
        #expect(observer.events.elements.last == "processed")
        let text = count == 0 ? "TestTarget: the transfer couldn't be started [" : "TestTarget: the transfer failed ["
        #expect(error?.description.hasPrefix(text) == true, "\(error?.description ?? "")")
    }

    @Test("Requests in flight at the same time have contexts of their own, each sent and received once")
    func concurrent() async throws {
        let gate = Gate()
        let transport = StubTransport { [requests] request in
            requests.append(request.urlRequest)
            try await gate.waitUnlessCancelled()
            return .response(status: 200, data: Data())
        }
        let driver = Driver { request, exchanges in
            let parts = exchanges.concurrent()
            return try await withThrowingTaskGroup(of: Response.self) { group in
                for index in 0..<3 {
                    group.addTask { try await parts.send(Self.request(request, "part\(index)", "PUT"), body: .none) }
                }
                var last: Response?
                for try await response in group { last = response }
                guard let last else { throw Boom() }
                return last
            }
        }
        let observer = Observer()
        let provider = Provider<TestTarget>(transport: transport, plugins: [observer])
        let target = target(driver)
        let call = Task { try await provider.request(target) }
        await requests.waitForCount(3)
        gate.open()
        _ = try await call.value
        #expect(Set(observer.contexts.elements).count == 3)
        #expect(observer.events.elements.count { $0 == "received" } == 3)
        #expect(provider.scope.inFlightCount == 0)
    }

    @Test("A driver ends once, and what it sends then is sent although the call was cancelled")
    func end() async throws {
        let gate = Gate()
        let ends = Recorder<TargetKitError.Stage?>()
        let transport = StubTransport { [requests] request in
            requests.append(request.urlRequest)
            if request.urlRequest.httpMethod == "GET" { try await gate.waitUnlessCancelled() }
            return .response(status: 204, data: Data())
        }
        let driver = Driver { request, exchanges in
            try await exchanges.send(request)
        } ended: { result, exchanges in
            if case .failure(let error) = result { ends.append(error.stage) } else { ends.append(nil) }
            exchanges.sendInBackground(Self.request(URLRequest(url: .example), "abort", "DELETE"))
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [Observer()])
        let target = target(driver)
        let call = Task { try await provider.request(target) }
        await requests.waitForCount(1)
        call.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await call.value }
        #expect(error?.stage == .cancelled)
        await provider.scope.shutdown(grace: .seconds(60))
        #expect(ends.elements == [.cancelled])
        #expect(requests.elements.map(\.httpMethod) == ["GET", "DELETE"])
        #expect(requests.elements.last?.value(forHTTPHeaderField: "X-Prepared") == "yes")
    }

    @Test("A sample answers the requests of a driver")
    func stubbed() async throws {
        let stubs = Recorder<Bool>()
        let driver = Driver { request, exchanges in
            stubs.append(exchanges.isStubbed)
            return try await exchanges.send(request)
        }
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        #expect(try await provider.request(target(driver)).data == Data(#"{"name":"tea"}"#.utf8))
        #expect(stubs.elements == [true])
    }

    @Test("A task with two drivers is an error, and nothing is sent")
    func twoDrivers() async throws {
        let provider = Provider<TestTarget>(transport: transport)
        let target = TestTarget(.example).with {
            $0.task = HTTPTask.download(to: URL(filePath: "/tmp/file")).driver(Driver { try await $1.send($0) })
        }
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.kind == .invalidRequest)
        #expect(requests.count == 0)
    }

    @Test(
        "What a driver says about the transfer decides whether plugins may repeat the call",
        arguments: [true, false]
    )
    func state(isRepeatable: Bool) async throws {
        struct Repeating: Plugin {
            let states = Recorder<TransferState?>()
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                states.append(context.transfer)
                return .doNotRetry
            }
        }
        let driver = Driver { request, exchanges in
            exchanges.context.transfer = TransferState(isRepeatable: isRepeatable, continuedByteCount: 7)
            return try await exchanges.send(Self.request(request, "503"))
        }
        let plugin = Repeating()
        let provider = Provider<TestTarget>(transport: transport, plugins: [plugin])
        _ = try? await provider.request(target(driver))
        #expect(plugin.states.elements == [TransferState(isRepeatable: isRepeatable, continuedByteCount: 7)])
    }

    /// Sends a request again after each pause, which cancels it. The request is named by its number.
    private static func sendUntilNotPaused(
        _ request: URLRequest,
        over exchanges: CallExchanges
    ) async throws -> Response {
        var number = 0
        while true {
            let (exchange, isPaused) = (Locked<Task<Response, any Error>?>(nil), Locked(false))
            exchanges.onPause {
                isPaused.withLock { $0 = true }
                exchange.withLock(\.self)?.cancel()
            }
            try await exchanges.waitWhilePaused()
            isPaused.withLock { $0 = false }
            let sent = Self.request(request, "\(number)")
            let task = Task { try await exchanges.send(sent) }
            exchange.withLock { $0 = task }
            if isPaused.withLock(\.self) { task.cancel() }
            do { return try await task.value } catch  where isPaused.withLock(\.self) { number += 1 }
        }
    }

    @Test("The caller can pause a driver that allows it: the exchange ends, and another one follows after resuming")
    func paused() async throws {
        let gate = Gate()
        let transport = StubTransport { [requests] request in
            requests.append(request.urlRequest)
            if request.urlRequest.url?.lastPathComponent == "0" { try await gate.waitUnlessCancelled() }
            return .response(status: 200, data: Data())
        }
        let driver = Driver { try await Self.sendUntilNotPaused($0, over: $1) }
        let provider = Provider<TestTarget>(transport: transport)
        let handle = provider.request(target(driver), on: .global()) { _ in }
        await requests.waitForCount(1)
        handle.pause()
        handle.resume()
        #expect(try await handle.response().statusCode == 200)
        #expect(requests.elements.map { $0.url?.lastPathComponent } == ["0", "1"])
    }

    @Test("A pause while the call can't be paused is remembered until it can")
    func pausedBeforePossible() async throws {
        let (isSent, isPaused, actions) = (Expectation(), Gate(), Recorder<Bool>())
        let driver = Driver { request, exchanges in
            exchanges.onPause(nil)
            _ = try await exchanges.send(Self.request(request, "first"))
            isSent.fulfill()
            try await isPaused.waitUnlessCancelled()
            try await exchanges.waitWhilePaused()
            exchanges.onPause { actions.append(true) }
            try await exchanges.waitWhilePaused()
            return try await exchanges.send(Self.request(request, "second"))
        }
        let handle = Provider<TestTarget>(transport: transport).request(target(driver), on: .global()) { _ in }
        await isSent.wait()
        handle.pause()
        isPaused.open()
        await actions.waitForCount(1)
        #expect(requests.count == 1)
        handle.resume()
        #expect(try await handle.response().statusCode == 200)
        #expect(requests.count == 2)
    }

    @Test("The limit of the whole call doesn't expire while a driver is paused, and continues after it")
    func pausedTime() async throws {
        let clock = ManualClock()
        let (isPausable, results) = (Expectation(), Recorder<Result<Response, TargetKitError>>())
        let driver = Driver { request, exchanges in
            exchanges.onPause {}
            isPausable.fulfill()
            try await clock.sleep(for: .seconds(20))
            try await exchanges.waitWhilePaused()
            try await clock.sleep(for: .seconds(100))
            return try await exchanges.send(request)
        }
        let provider = Provider<TestTarget>(transport: transport, clock: clock)
        let options = CallOptions.setting(\.timeout, .wholeCall(.seconds(60)))
        let handle = provider.request(target(driver), options: options, on: .global()) { results.append($0) }
        await isPausable.wait()
        try await clock.waitForSleepers(2)
        handle.pause()
        clock.advance(by: .seconds(1_000))
        handle.resume()
        // The sleep of the driver, and the limit.
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(59))
        #expect(results.count == 0)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.kind == .timedOut)
        #expect(requests.count == 0)
    }

    @Test("A paused driver ends when its call is cancelled")
    func cancelledWhilePaused() async throws {
        let driver = Driver { request, exchanges in
            exchanges.onPause {}
            try await exchanges.waitWhilePaused()
            return try await exchanges.send(request)
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [Observer()])
        let handle = provider.request(target(driver), on: .global()) { _ in }
        handle.pause()
        handle.cancel()
        let error = await #expect(throws: TargetKitError.self) { try await handle.response() }
        #expect(error?.stage == .cancelled)
    }

    @Test("A driver reads the body while it arrives, and can replace the response before plugins receive it")
    func receives() async throws {
        let server = try TestServer { _ in TestServer.Response(status: 200, body: Data(repeating: 7, count: 100_000)) }
        let driver = Driver { request, exchanges in
            var prepared = try await exchanges.prepare(request)
            prepared.destination = .stream(buffer: 1 << 10)
            return try await exchanges.send(prepared) { result in
                guard case .stream(let body) = result.response.body else { throw Boom() }
                var (count, result) = (0, result)
                for try await piece in body { count += piece.count }
                result.response.body = .data(Data("\(count)".utf8))
                result.response.head.statusCode = 404
                result.validation = .codes([404])
                return result
            }
        }
        let provider = Provider<TestTarget>()
        let target = target(driver).with { $0.baseURL = server.baseURL }
        let response = try await provider.request(target)
        #expect(response.data == Data("100000".utf8))
        #expect(response.statusCode == 404)
    }

    @Test("An error of what receives the response is that of the exchange, which plugins may retry")
    func receivingFails() async throws {
        let driver = Driver { request, exchanges in
            try await exchanges.send(exchanges.prepare(request)) { _ in throw URLError(.cannotParseResponse) }
        }
        let observer = Observer(retries: 1)
        let provider = Provider<TestTarget>(transport: transport, plugins: [observer])
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target(driver)) }
        #expect(error?.stage == .transport)
        #expect(observer.events.elements.count { $0 == "received" } == 2)
    }

    @Test("A restriction applies to what plugins add, also to a signature", arguments: [false, true])
    func restricted(inBackground: Bool) async throws {
        struct Signing: Plugin {
            var place: PluginPlace { .signing }
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                var request = request
                request.setValue("secret", forHTTPHeaderField: "X-Signature")
                return request
            }
        }
        let driver = Driver { request, exchanges in
            let other = Self.request(request, "other", "DELETE")
            let prepared = try await exchanges.prepare(other, body: .none) { request in
                var request = request
                for name in ["X-Prepared", "X-Signature"] { request.setValue(nil, forHTTPHeaderField: name) }
                return request
            }
            if inBackground {
                exchanges.sendInBackground(prepared)
            } else {
                _ = try await exchanges.send(prepared)
            }
            return try await exchanges.send(request)
        }
        let provider = Provider<TestTarget>(transport: transport, plugins: [Observer(), Signing()])
        _ = try await provider.request(target(driver))
        await provider.scope.shutdown(grace: .seconds(60))
        let other = try #require(requests.elements.first { $0.httpMethod == "DELETE" })
        #expect(other.value(forHTTPHeaderField: "X-Prepared") == nil)
        #expect(other.value(forHTTPHeaderField: "X-Signature") == nil)
        let last = try #require(requests.elements.first { $0.httpMethod == "GET" })
        #expect(last.value(forHTTPHeaderField: "X-Signature") == "secret")
    }
}
