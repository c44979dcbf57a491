// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket
import TargetKitWebSocketTesting
import TestSupport
import Testing

@Suite("WebSockets that end at random moments", .throttled, .timeLimit(.minutes(2)))
struct EndingStormTests {
    /// What ends the WebSockets.
    enum Ending: CaseIterable { case cancelProvider, cancelScope, shutdown }

    /// Servers that accept, refuse, delay, close, break, or never answer.
    private static func server() throws -> TestServer {
        try TestServer { request in
            switch request.path {
            case "/echo": .webSocket(.echo)
            case "/refused": .init(status: 403)
            case "/slow": .webSocket(.wait(for: .milliseconds(3)), .send("late"), .echo)
            case "/closing": .webSocket(.send("1"), .close(.goingAway))
            case "/broken": .webSocket(.send("1"), .fault(.maskedFrame))
            case "/mute": .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upg")
            default: [.hang]
            }
        }
    }

    private static let paths: [RequestPath] = ["/echo", "/refused", "/slow", "/closing", "/broken", "/mute", "/hang"]

    @Test("Nothing waits, no connection stays in the scope, and each reader ends once", arguments: Ending.allCases)
    func storm(_ ending: Ending) async throws {
        let server = try Self.server()
        for round in 0..<12 {
            let scope = RequestScope()
            let provider = Provider<Feed>(scope: scope)
            let ends = Recorder<TargetKitError.Stage?>()
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<21 {
                    let feed = Feed(baseURL: server.baseURL, path: Self.paths[index % Self.paths.count])
                    group.addTask { await Self.use(provider, feed, isReconnecting: index % 2 == 0, ends) }
                }
                group.addTask {
                    try? await Task.sleep(for: .microseconds(400 * round))
                    switch ending {
                    case .cancelProvider: provider.cancelAll()
                    case .cancelScope: scope.cancelAll()
                    case .shutdown: await scope.shutdown(grace: .milliseconds(20))
                    }
                }
                // A call that begins after the end of the others would never end.
                if ending != .shutdown {
                    group.addTask {
                        while ends.count < 21, !Task.isCancelled {
                            try? await Task.sleep(for: .milliseconds(10))
                            scope.cancelAll()
                        }
                    }
                }
            }
            #expect(ends.count == 21)
            #expect(scope.inFlightCount == 0)
        }
    }

    private static func use(
        _ provider: Provider<Feed>,
        _ feed: Feed,
        isReconnecting: Bool,
        _ ends: Recorder<TargetKitError.Stage?>
    ) async {
        do throws(TargetKitError) {
            if isReconnecting {
                let socket = provider.webSocket(feed, reconnecting: .backoff(reachability: nil))
                for try await _ in socket.messages {}
            } else {
                let socket = try await provider.webSocket(feed)
                do { try await socket.send("hello") } catch { _ = error.stage }
                for try await _ in socket.messages {}
            }
            ends.append(nil)
        } catch {
            ends.append(error.stage)
        }
    }
}
