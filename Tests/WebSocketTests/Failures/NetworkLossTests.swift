// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TargetKitWebSocketTesting
import TestSupport
import Testing

@testable import TargetKitWebSocket

/// A network namespace, in which this program runs again with the tests of ``NetworkLossTests``.
private enum OwnNetwork {
    private static let variable = "TARGETKIT_OWN_NETWORK"

    /// Whether this process is the one in the namespace.
    static let isHere = ProcessInfo.processInfo.environment[variable] != nil

    static let isPermitted = (try? run("true").status) == 0

    /// Runs a command of a shell in a new namespace with a loopback interface.
    static func run(
        _ command: String,
        _ arguments: [String] = []
    ) throws -> (status: Int32, output: Data, errors: Data) {
        let script = "PATH=$PATH:/usr/sbin:/sbin; export PATH \(variable)=1; ip link set lo up && \(command)"
        return try ChildProcess.run("/usr/bin/env", ["unshare", "-rn", "/bin/sh", "-c", script] + arguments)
    }

    /// Turns the only interface on or off. Without it, there is no route.
    static func turn(_ state: String) throws {
        _ = try ChildProcess.run("/bin/sh", ["-c", "PATH=$PATH:/usr/sbin:/sbin; ip link set lo \(state)"])
    }
}

@Suite("A network without a route", .serialized, .throttled, .timeLimit(.minutes(3)))
struct NetworkLossTests {
    @Test(
        "WebSockets notice it, and continue when it is back",
        .enabled(if: !OwnNetwork.isHere),
        .enabled(if: OwnNetwork.isPermitted, "skipped: network namespaces (unshare -rn) are not permitted here")
    )
    func namespace() async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let result = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let command = #"exec "$0" --testing-library swift-testing --filter NetworkLossTests"#
                continuation.resume(with: Result { try OwnNetwork.run(command, [program]) })
            }
        }
        let output = String(decoding: result.output + result.errors, as: UTF8.self)
        #expect(result.status == 0, "\(output)")
        #expect(output.contains(#"wait are sent when it is back" passed"#), "\(output)")
    }

    @Test("A handshake fails at once", .enabled(if: OwnNetwork.isHere))
    func handshake() async throws {
        let url = try #require(URL(string: "http://10.9.8.7"))
        let error = await #expect(throws: TargetKitError.self) {
            _ = try await Provider<Feed>().webSocket(Feed(baseURL: url))
        }
        #expect(error?.stage == .transport)
        #expect([.offline, .cannotConnect].contains(error?.kind))
    }

    @Test("A lost network is told, and messages that wait are sent when it is back", .enabled(if: OwnNetwork.isHere))
    func loss() async throws {
        let log = WebSocketLog()
        let server = try TestServer(response: .webSocket(.echo, options: .init { $0.log = log }))
        let provider = Provider<Feed>(transport: CurlTransport())
        var backoff = WebSocketReconnection.backoff(RetryPolicy(attempts: .max), reachability: nil)
        backoff.share = { 0.1 }
        // Packets are lost in silence, also those of handshakes.
        let options = CallOptions.heartbeat(every: .milliseconds(20), timeout: .seconds(3))
            .setting(\.timeout, .exchange(.seconds(3)))
        let socket = provider.webSocket(Feed(baseURL: server.baseURL), reconnecting: backoff, options: options)
        var messages = socket.messages.makeAsyncIterator()
        try await socket.send("before")
        #expect(try await messages.next() == .text("before"))
        var states = socket.states.makeAsyncIterator()
        let port = try #require(server.baseURL.port)
        var names = try OpenSockets.names(to: port)
        try OwnNetwork.turn("down")
        // The heartbeat, then handshakes that fail.
        for _ in 0..<3 { while let state = await states.next() { if case .waiting = state { break } } }
        async let sending: Void = socket.send("during")
        try OwnNetwork.turn("up")
        try await sending
        #expect(try await messages.next() == .text("during"))
        names.formUnion(try OpenSockets.names(to: port))
        #expect(names.count == 2)
        #expect(log.messages == [.text("before"), .text("during")])
        await socket.close()
        while let state = await states.next() { if case .closed = state { break } }
        await provider.scope.shutdown(grace: .seconds(30))
        try await OpenSockets.waitUntilClosed(names)
    }
}
#endif
