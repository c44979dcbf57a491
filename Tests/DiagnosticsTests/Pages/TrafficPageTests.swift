// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

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
}
