// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The snippets of three pages, compiled and run. `everySnippetIsHere` fails when a page says something else than this
/// file.
@Suite("Documentation", .throttled, .timeLimit(.minutes(2)))
struct DocumentationTests {
    enum Orders: RoutedTarget {
        case latest
        case order(id: String)
        case place(NewOrder)

        var baseURL: URL { Shop.baseURL }

        var route: Route {
            switch self {
            case .latest: .get("/orders", .query(["limit": 10]))
            case .order(let id): .get("/orders/\(id)")
            case .place(let order): .post("/orders", .json(order))
            }
        }

        var sampleData: Data { Data(#"{"id":"A1","total":12.5}"#.utf8) }
    }

    // MARK: Managing calls

    @Test("Managing calls: sharing, events, streams, many calls, time")
    func lifecycle() async throws {
        let transport = StubTransport(Orders.latest.sampleResponse)
        do {
            let provider = Provider<Orders>(options: .setting(\.sharesInFlight, true))
            #expect(provider.scope.inFlightCount == 0)
        }
        let provider = Provider<Orders>(transport: transport, options: .setting(\.sharesInFlight, true))
        let order = NewOrder(product: "7")
        for try await event in provider.events(for: .place(order)) {
            switch event {
            case .uploadProgress(let step): showFraction(step.fraction)
            case .downloadProgress: break
            case .response(let response): show(response)
            }
        }
        let stream = try await provider.stream(.latest)
        for try await line in stream.lines() { print(line) }
        async let first = provider.request(.order(id: "A1"), as: Order.self)
        async let second = provider.request(.order(id: "A2"), as: Order.self)
        let both = try await [first, second]
        #expect(both.map(\.total) == [12.5, 12.5])
        let ids = ["A1", "A2", "A3"]
        for await outcome in provider.requests(ids.map(Orders.order), maxConcurrent: 6, inOrder: true) {
            guard case .success(let response) = outcome.result else { continue }
            show(response)
        }
        let pages = provider.pages(first: .latest) { page in
            page.headers["X-Next-Order"].map { .order(id: $0) }
        }
        for try await page in pages { show(page) }
        let patient = Provider<Orders>(options: .setting(\.timeout, .wholeCall(.seconds(30))))
        patient.cancelAll()
    }

    @Test("Managing calls: scopes")
    func scopes() async throws {
        let session = RequestScope()
        let screen = RequestScope(parent: session)
        let orders = Provider<Orders>(scope: screen)
        screen.cancelAll()
        session.cancelAll(of: Orders.self)
        for await count in session.inFlightCounts { if count == 0 { break } }
        #expect(orders.scope.parent === session)
    }

    /// Compiled only: a test that ran it would end the tests.
    private func atSignal(session: RequestScope) {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        source.setEventHandler {
            Task {
                await session.shutdown(grace: .seconds(3))
                exit(0)
            }
        }
        source.resume()
    }

    struct App: Sendable {
        let session: RequestScope

        func applicationWillTerminate() {
            let isDown = DispatchSemaphore(value: 0)
            Task.detached {
                await session.shutdown(grace: .seconds(1))
                isDown.signal()
            }
            _ = isDown.wait(timeout: .now() + 3)
        }
    }

    @Test("Managing calls: an app that is told to end")
    func termination() async throws {
        let app = App(session: RequestScope())
        // On a thread of its own, as the main thread is: one of the pool may not wait like this.
        await withCheckedContinuation { ended in
            Thread.detachNewThread {
                app.applicationWillTerminate()
                ended.resume()
            }
        }
        #expect(app.session.isShutDown)
    }

    // MARK: Testing

    @Test("Testing: stubs")
    func stubs() async throws {
        let stubbed = Provider<Orders>(stubClosure: { _ in .immediate })
        let order = try await stubbed.request(.order(id: "A1"), as: Order.self)
        #expect(order.id == "A1")
        let transport = StubTransport { request in
            request.urlRequest.httpMethod == "POST"
                ? .response(status: 201, data: Data(#"{"id":"A2","total":3}"#.utf8))
                : .failure(URLError(.notConnectedToInternet))
        }
        let provider = Provider<Orders>(transport: transport)
        #expect(try await provider.request(.place(NewOrder(product: "7"))).statusCode == 201)
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(.latest) }
        #expect(error.kind == .offline)
    }

    // MARK: Writing a plugin

    struct TracePlugin: Plugin {
        var hooks: PluginHooks { [.prepare, .retry] }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            var request = request
            request.setValue("\(context.id).\(context.attempt)", forHTTPHeaderField: "X-Trace")
            return request
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard case .failure(let error) = result, error.response?.statusCode == 503, context.isRepeatable,
                context.attempt < 2
            else { return .doNotRetry }
            return .retry(after: .seconds(1))
        }
    }

    struct AskingPlugin: Plugin {
        let confirm: @Sendable () async -> Bool
        var hooks: PluginHooks { [.prepare, .retry] }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            if context[QuestionKey.self] == nil { context[QuestionKey.self] = Question() }
            return request
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard case .failure(let error) = result, error.rejectedStatusCode == 409,
                let question = context[QuestionKey.self], await question.isFirst(), await confirm()
            else { return .doNotRetry }
            return .retry(after: .zero)
        }
    }

    enum QuestionKey: RequestContextKey {
        typealias Value = Question
    }

    actor Question {
        private var wasAsked = false

        func isFirst() -> Bool {
            defer { wasAsked = true }
            return !wasAsked
        }
    }

    @Test(
        "Writing a plugin: the user is asked once, and the call is retried once if they agree",
        arguments: [true, false],
        [true, false]
    )
    func asking(agrees: Bool, isShared: Bool) async throws {
        let (questions, requests) = (Recorder<Bool>(), Recorder<URLRequest>())
        let transport = StubTransport { request in
            requests.append(request.urlRequest)
            return .response(status: 409)
        }
        let plugin = AskingPlugin {
            questions.append(agrees)
            return agrees
        }
        let provider = Provider<Orders>(
            transport: transport,
            plugins: [plugin],
            options: .setting(\.sharesInFlight, isShared)
        )
        await #expect(throws: TargetKitError.self) { try await provider.request(.place(NewOrder(product: "7"))) }
        #expect(questions.elements == [agrees])
        #expect(requests.count == (agrees ? 2 : 1))
    }

    struct SecondServer: Plugin {
        let host: String

        var hooks: PluginHooks { .exchange }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            do {
                return try await next(request)
            } catch let error as URLError where error.code == .cannotConnectToHost {
                guard let url = request.urlRequest.url,
                    var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
                else { throw error }
                parts.host = host
                var second = request
                second.urlRequest.url = parts.url
                return try await next(second)
            }
        }
    }

    @Test("Writing a plugin: a second server answers")
    func exchangePlugin() async throws {
        let transport = StubTransport { request in
            request.urlRequest.url?.host() == "second.example"
                ? .response(status: 201, data: Data()) : .failure(URLError(.cannotConnectToHost))
        }
        let provider = Provider<Orders>(transport: transport, plugins: [SecondServer(host: "second.example")])
        #expect(try await provider.request(.latest).statusCode == 201)
    }

    func responseOfSecondServer(_ url: URL) async throws -> TransportResponse {
        let next = Exchange { request in
            guard request.urlRequest.url?.host() == "second.example" else { throw URLError(.cannotConnectToHost) }
            return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
        }
        return try await SecondServer(host: "second.example").exchange(
            TransportRequest(urlRequest: URLRequest(url: url)),
            context: RequestContext(target: URLTarget(url)),
            next: next
        )
    }

    @Test("Writing a plugin: an exchange is tested by itself")
    func lonePlugin() async throws {
        let url = try #require(URL(string: "https://first.example/products/7"))
        #expect(try await responseOfSecondServer(url).head.statusCode == 200)
    }

    @Test("Writing a plugin: the trace is put into the request")
    func plugin() async throws {
        let provider = Provider<Orders>(stubClosure: { _ in .immediate }, plugins: [TracePlugin()])
        let response = try await provider.request(.latest)
        #expect(response.request?.value(forHTTPHeaderField: "X-Trace")?.hasSuffix(".0") == true)
    }

    // MARK: All of them

    @Test("Every line of Swift on a page is a line of this file", arguments: pages)
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/DocumentationTests.swift").union(
            Self.elsewhere
        )
        let lines = try page.lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(page): \(line)")
        }
    }

    private static let pages =
        ["Lifecycle.md", "Stubs.md", "WritingAPlugin.md"]
        .map { DocumentationPage("Sources/TargetKit/TargetKit.docc/" + $0) }

    /// What cannot stand here: a real call.
    private static let elsewhere = [
        "let response = try await patient.request(.latest, options: .setting(\\.timeout, .exchange(.milliseconds(800))))"
    ]
}

private enum Shop {
    static let baseURL = URL(string: "https://shop.example/v1") ?? URL(filePath: "/")
}

struct NewOrder: RequestModel { var product: String }

private struct Order: ResponseModel {
    var id: String
    var total: Double
}

private func show(_ response: Response) {}
private func showFraction(_ fraction: Double?) {}
