// SPDX-License-Identifier: MIT
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// A WebSocket of SwiftNIO, used as its documentation does: through an asynchronous channel of frames.
struct NIOPeer: Sendable {
    private typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    let port: Int

    func send(_ count: Int, _ text: String, by senderCount: Int) async throws {
        let confirmation = try await open("/sink/\(count)").executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sender in 0..<senderCount {
                    group.addTask {
                        for _ in stride(from: sender, to: count, by: senderCount) {
                            let data = ByteBuffer(string: text)
                            let key = WebSocketMaskingKey.random()
                            try await outbound.write(
                                WebSocketFrame(fin: true, opcode: .text, maskKey: key, data: data)
                            )
                        }
                    }
                }
                try await group.waitForAll()
            }
            for try await frame in inbound { return String(buffer: frame.data) }
            return ""
        }
        guard confirmation == "done" else { throw WrongResult(what: "no confirmation for SwiftNIO") }
    }

    /// Receives text messages from `/flood`, and returns their number.
    func receive(_ path: String) async throws -> Int {
        try await open(path).executeThenClose { inbound, outbound in
            var count = 0
            for try await frame in inbound {
                if frame.opcode == .connectionClose { break }
                guard frame.opcode == .text, String(buffer: frame.data).utf8.count == 16 else {
                    throw WrongResult(what: "\(frame) for SwiftNIO")
                }
                count += 1
            }
            return count
        }
    }

    private func open(_ path: String) async throws -> Channel {
        let upgrade: EventLoopFuture<Channel?> = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let upgrader = NIOTypedWebSocketClientUpgrader<Channel?>(
                        upgradePipelineHandler: { channel, _ in
                            channel.eventLoop.makeCompletedFuture {
                                try Channel(wrappingChannelSynchronously: channel)
                            }
                        }
                    )
                    let head = HTTPRequestHead(
                        version: .http1_1,
                        method: .GET,
                        uri: path,
                        headers: ["Host": "127.0.0.1:\(port)", "Content-Length": "0"]
                    )
                    let configuration = NIOTypedHTTPClientUpgradeConfiguration(
                        upgradeRequestHead: head,
                        upgraders: [upgrader],
                        notUpgradingCompletionHandler: { $0.eventLoop.makeSucceededFuture(nil) }
                    )
                    var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: configuration)
                    // The first messages can arrive together with the response.
                    pipeline.leftOverBytesStrategy = .forwardBytes
                    return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                        configuration: pipeline
                    )
                }
            }
        guard let channel = try await upgrade.get() else { throw WrongResult(what: "no WebSocket of SwiftNIO") }
        return channel
    }
}
