// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Pulse)
import Pulse
#endif

/// The public method of Pulse 5 that the page calls.
final class LoggerStore: Sendable {
    struct Task: Sendable {
        let request: URLRequest
        let status: Int?
        let fields: [String: String]
        let error: String?
        let text: String?
        let label: String?
    }

    static let shared = LoggerStore()

    let tasks = Recorder<Task>()

    func storeRequest(
        _ request: URLRequest,
        response: URLResponse?,
        error: (any Error)?,
        data: Data?,
        metrics: URLSessionTaskMetrics? = nil,
        label: String? = nil
    ) {
        let response = response as? HTTPURLResponse
        tasks.append(
            Task(
                request: request,
                status: response?.statusCode,
                fields: response?.allHeaderFields as? [String: String] ?? [:],
                error: error?.localizedDescription,
                text: data.map { String(decoding: $0, as: UTF8.self) },
                label: label
            )
        )
    }
}

extension LoggerStore {
    nonisolated func store(_ entry: HAREntry) {
        // The placeholder of a secret isn't valid in a URL.
        let text = entry.url.replacingOccurrences(of: "<redacted>", with: "redacted")
        guard !entry.isOpen, let url = URL(string: text), let har = try? JSONValue(encoding: entry) else { return }
        let (sent, received) = (har["request"], har["response"])
        var request = URLRequest(url: url)
        request.httpMethod = entry.method
        request.allHTTPHeaderFields = fields(sent["headers"])
        request.httpBody = sent["postData"]["text"].string.map { Data($0.utf8) }
        let response = entry.statusCode.flatMap { status in
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields(received["headers"]))
        }
        let body = received["content"]["text"].string
        let isText = received["content"]["encoding"] == .null
        let data = body.flatMap { isText ? Data($0.utf8) : Data(base64Encoded: $0) }
        let error = entry.message.map {
            NSError(domain: "TargetKit", code: 0, userInfo: [NSLocalizedDescriptionKey: $0])
        }
        storeRequest(request, response: response, error: error, data: data, label: har["_provider"].string)
    }

    private nonisolated func fields(_ list: JSONValue) -> [String: String] {
        let fields = (list.array ?? []).map { ($0["name"].string ?? "", $0["value"].string ?? "") }
        return Dictionary(fields) { first, second in "\(first), \(second)" }
    }
}

@Suite("Page: Traffic", .throttled, .timeLimit(.minutes(2)))
struct TrafficPageTests {
    enum Tea: TargetType {
        case latest

        var baseURL: URL { .shop }
        var path: RequestPath { "/teas/latest" }
    }

    struct Connections: Sendable {
        let sent = Recorder<Data>()

        func send(_ event: Data) { sent.append(event) }
        func serve(_ html: String) { sent.append(Data(html.utf8)) }
    }

    private let place: TemporaryFolder
    private let transport = StubTransport(.response(status: 200, data: Data("{}".utf8)))

    init() throws {
        place = try TemporaryFolder()
    }

    @Test("Calls are recorded, and shown on a page")
    func archive() async throws {
        let folder = place.url
        let traffic = HARPlugin(file: folder.appending(path: "traffic.har"))
        let provider = Provider<Tea>(transport: transport, plugins: [traffic])
        _ = try? await provider.request(.latest)
        await traffic.flush()
        for (number, file) in traffic.files.enumerated() {
            let page = try TimelinePage(har: Data(contentsOf: file))
            try page.write(to: folder.appending(path: "traffic-\(number).html"))
        }
        #expect(Set(place.names) == ["traffic.har", "traffic-0.html"])
    }

    @Test("Providers record into one file")
    func together() async throws {
        let folder = place.url
        let problems = Recorder<String>()
        let log: @Sendable (String) -> Void = { problems.append($0) }
        let file = HARFile(folder.appending(path: "shop.har"), sizeLimit: 8 << 20) { problem in log(problem) }
        let teas = Provider<Tea>(transport: transport, plugins: [HARPlugin(to: file, provider: "teas")])
        let maps = Provider<Tea>(transport: transport, plugins: [HARPlugin(to: file, bodyLimit: 0, provider: "maps")])
        _ = try await teas.request(.latest)
        _ = try await maps.request(.latest)
        await file.flush()
        let entries = try JSONValue(parsing: Data(contentsOf: file.files[0]))["log"]["entries"]
        #expect(entries[0]["_provider"].string == "teas")
        #expect(entries[1]["_provider"].string == "maps")
        #expect(problems.elements.isEmpty)
    }

    @Test("A live page gets entries as events")
    func live() async throws {
        let connections = Connections()
        let eventsURL = try #require(URL(string: "/events"))
        let live = HARPlugin { entry in connections.send(entry.serverSentEvent) }
        let shop = Provider<Tea>(transport: transport, plugins: [live])
        let page = TimelinePage.live(events: eventsURL, title: "Shop")
        connections.serve(page.html)
        _ = try await shop.request(.latest)
        #expect(connections.sent.count == 2)
        #expect(connections.sent.elements[1].starts(with: "data: {".utf8))
    }

    @Test("A console of the app gets each finished call, with secrets redacted")
    func console() async throws {
        let transport = StubTransport(routes: [
            .any: .sequence(.json(#"{"token":"s3cr3t","name":"Sencha"}"#), .failure(URLError(.timedOut)))
        ])
        let console = HARPlugin(bodyLimit: 1 << 20) { entry in LoggerStore.shared.store(entry) }
        let logged = Provider<Tea>(transport: transport, plugins: [console])
        _ = try await logged.request(.latest)
        _ = try? await logged.request(.latest)
        let tasks = LoggerStore.shared.tasks.elements
        #expect(tasks.map(\.request.url?.path) == ["/api/teas/latest", "/api/teas/latest"])
        #expect(tasks.map(\.status) == [200, nil])
        #expect(tasks[0].text == #"{"token":"<redacted>","name":"Sencha"}"#)
        #expect(tasks[0].fields["Content-Type"] == "application/json")
        #expect(tasks[0].label == "Tea" && tasks[0].error == nil)
        #expect(tasks[1].error?.contains("timed out") == true)
    }
}
