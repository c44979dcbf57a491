// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import ShopServer
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TargetKitTransfers
import TargetKitWebSocket
import TargetKitWebSocketTesting
import Testing

@testable import shop

/// `--chaos`, `--timeline`, `watch`, and what is said about wrong options.
@Suite("Options", .timeLimit(.minutes(1)))
struct OptionTests {
    @Test("On a bad network, each call ends well or with an error of the network")
    func chaos() async throws {
        let clock = ManualClock()
        let stub = StubTransport(routes: [.any: .targetSample])
        let provider = Provider<Catalog>(transport: stub, plugins: [Chaos(seed: 7, clock: clock)])
        var kinds: Set<TargetKitError.Kind?> = []
        for _ in 1...40 {
            async let result = outcome { () async throws(TargetKitError) in
                try await provider.request(.products)
            }
            try await clock.waitForSleepers()
            clock.advanceToNextDeadline()
            kinds.insert(await result)
        }
        #expect(kinds == [nil, .connectionLost, .server])
    }

    private func outcome(of call: () async throws(TargetKitError) -> Response) async -> TargetKitError.Kind? {
        do throws(TargetKitError) {
            _ = try await call()
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("The timeline is one file with the calls")
    func timeline() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "timeline-\(UUID()).html")
        defer { try? FileManager.default.removeItem(at: file) }
        let timeline = try Timeline(writingTo: file)
        var settings = ShopClient.Settings()
        settings.isStubbed = true
        settings.plugins = [timeline.plugin]
        _ = try await ShopClient(settings).catalog.request(.products)
        #expect(try await timeline.write() == file.path)
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains("https://shop.example/products"))
    }

    @Test("A timeline in a folder that doesn't exist is refused before the first call")
    func missingFolder() {
        #expect(throws: ValidationError.self) { try Timeline(writingTo: URL(filePath: "/missing/folder/t.html")) }
    }

    @Test("The watch shows each state, and goes on after a lost connection")
    func watch() async throws {
        let connections = Guarded(0)
        let server = StubWebSocket { client in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            client.send(#"{"product":"sencha","name":"Sencha","cents":890,"left":\#(number)}"#)
            if number == 1 { throw URLError(.networkConnectionLost) }
        }
        let written = Guarded("")
        var settings = ShopClient.Settings()
        settings.transport = server
        let console = Console(.json) { text in written.withLock { $0 += text } }
        let reconnection = WebSocketReconnection.backoff(
            RetryPolicy(attempts: 3, baseDelay: .zero),
            reachability: nil
        )
        let watch = StockWatch(client: ShopClient(settings), console: console, reconnection: reconnection)
        try await watch.run(count: 2)
        let lines = try written.value.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        #expect(lines.filter { $0["event"].string == "quote" }.map { $0["left"].int } == [1, 2])
        let states = lines.compactMap { $0["state"].string }
        // The first state is that of the moment in which the watch begins to look.
        #expect(states.contains("open") && states.last == "closed")
    }

    @Test("With --json, each change of a transfer is an object")
    func transfers() throws {
        let written = Guarded("")
        let screen = TransferScreen(Console(.json) { text in written.withLock { $0 += text } })
        let target = try FileTransfer.download(webAddress("http://127.0.0.1/film.mp4"), into: URL(filePath: "/tmp"))
        let progress = TransferProgress(completed: 5, total: 10, direction: .download)
        let running = Transfer(target: target, state: .running, progress: progress)
        for _ in 0..<2 { screen.end([running]) }
        screen.end([Transfer(id: running.id, target: target, state: .cancelled)])
        let lines = try written.value.split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        #expect(
            lines == [
                ["event": "transfer", "name": "film.mp4", "state": "running", "completed": 5, "total": 10],
                ["event": "transfer", "name": "film.mp4", "state": "cancelled"],
            ]
        )
    }

    @Test("A transfer's line is in the language of the person", arguments: Language.allCases)
    func transferLine(language: Language) throws {
        let target = try FileTransfer.download(webAddress("http://127.0.0.1/film.mp4"), into: URL(filePath: "/tmp"))
        let bar = TransferBar(transfer: Transfer(target: target, state: .cancelled))
        #expect(bar.text(in: language).hasSuffix(language == .english ? "  cancelled" : "  已取消"))
    }

    @Test(
        "Each command that talks to other servers has --json and --lang",
        arguments: [
            ["httpbin", "--base-url", "http://127.0.0.1:8771"], ["download", "http://127.0.0.1/film.mp4"],
            ["upload", "film.mp4", "--to", "http://127.0.0.1:8081/files/"],
        ]
    )
    func output(arguments: [String]) throws {
        _ = try Shop.parseAsRoot(arguments + ["--json", "--lang", "zh-Hans"])
    }

    @Test(
        "A wrong option is explained",
        arguments: [
            (["--environment", "moon"], "production"), (["--lang", "fr"], "zh-Hans"),
            (["watch", "--count", "0"], "write 1 or more"), (["--base-url", "tea"], "http://127.0.0.1:8080"),
            (["watch", "--base-url", "http://127.0.0.1:1", "--restart-after", "2"], "leave out --base-url"),
        ]
    )
    func wrongOption(arguments: [String], advice: String) {
        let error = #expect(throws: (any Error).self) { try Shop.parseAsRoot(arguments) }
        #expect(error.map { Shop.fullMessage(for: $0).contains(advice) } == true)
    }
}
