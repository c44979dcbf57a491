// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitWebSocket
import TargetKitWebSocketTesting
import TestSupport
import Testing

/// The code of the page about TargetKitWebSocketTesting, run.
@Suite("Page of the WebSocket tests", .throttled, .timeLimit(.minutes(1)))
struct WebSocketTestingPageTests {
    @Test("Every line of Swift on the page is a line of this file")
    func everySnippetIsHere() throws {
        let folder = "Sources/WebSocketTesting/TargetKitWebSocketTesting.docc"
        let known = try DocumentationPage.lines(at: "Tests/WebSocketTests/Pages/WebSocketTestingPageTests.swift")
        for page in DocumentationPage.pages(in: folder) {
            for line in try page.lines() { #expect(known.contains(line), "\(line)") }
        }
    }

    struct QuoteTests {
        @Test("The price of a subscribed product arrives")
        func price() async throws {
            let log = WebSocketLog()
            let server = try TestServer(routes: [
                .get("/quotes"): .webSocket(.expect("TEA"), .send("4.20"), .close(), options: .init { $0.log = log })
            ])
            let provider = Provider<URLTarget>()
            let socket = try await provider.webSocket(URLTarget(server.baseURL.appending(path: "quotes")))
            try await socket.send("TEA")
            var prices: [WebSocketMessage] = []
            for try await message in socket.messages { prices.append(message) }
            #expect(prices == [.text("4.20")])
            #expect(try await log.message(at: 0) == .text("TEA"))
        }
    }

    struct FaultTests {
        @Test("A masked frame of the server ends the messages with an error")
        func maskedFrame() async throws {
            let server = try TestServer(response: .webSocket(.send("4.20"), .fault(.maskedFrame)))
            let socket = try await Provider<URLTarget>().webSocket(URLTarget(server.baseURL))
            let error = await #expect(throws: TargetKitError.self) {
                for try await _ in socket.messages {}
            }
            #expect((error?.underlying as? WebSocketError)?.reason == .maskedFrame)
        }
    }
}
