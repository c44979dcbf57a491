// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins
import TargetKitWebSocket

/// Prints the messages of the stock's feed, and each state of its WebSocket.
struct StockWatch: Sendable {
    /// Short delays, so that a restart is noticed soon.
    private static let policy = RetryPolicy(
        attempts: .max,
        baseDelay: .milliseconds(300),
        maximumDelay: .seconds(5)
    )

    let client: ShopClient
    let console: Console
    /// When the WebSocket is opened again.
    var reconnection = WebSocketReconnection.backoff(Self.policy, reachability: nil)

    /// Runs until the WebSocket is closed for good, or a number of messages has arrived.
    ///
    /// - Parameters:
    ///   - count: The number of messages; `nil`: no limit.
    ///   - onMessage: Called after each message with the number of messages.
    func run(count: Int? = nil, onMessage: @escaping @Sendable (Int) async throws -> Void = { _ in }) async throws {
        let heartbeat = CallOptions.heartbeat(every: .seconds(10), timeout: .seconds(5))
        let feed = client.feed.webSocket(.stock, reconnecting: reconnection, options: heartbeat)
        let states = feed.states
        let showing = Task { for await state in states { show(state) } }
        var received = 0
        do {
            for try await quote in feed.messages(of: StockQuote.self) {
                show(quote)
                received += 1
                if received == count { break }
                try await onMessage(received)
            }
        } catch {
            await showing.value
            throw error
        }
        await feed.close()
        await showing.value
    }

    private func show(_ quote: StockQuote) {
        let gap = String(repeating: " ", count: max(1, 28 - quote.name.count))
        let left = String(format: "%3d", quote.left)
        console.record(
            "quote",
            ["product": .string(quote.product), "left": .count(quote.left), "cents": .count(quote.cents)],
            Phrase(
                "  \(quote.name)\(gap)\(left) left  \(euros(quote.cents))",
                "  \(quote.name)\(gap)剩 \(left)  \(euros(quote.cents))"
            )
        )
    }

    private func show(_ state: WebSocketState) {
        let (name, phrase): (String, Phrase) =
            switch state {
            case .connecting: ("connecting", Phrase("connecting …", "连接中…"))
            case .open: ("open", Phrase("open", "已连接"))
            case .waiting(let date): ("waiting", Self.waiting(until: date))
            case .closed(let error): ("closed", Self.closed(error))
            }
        console.record("state", ["state": .string(name)], phrase)
    }

    private static func waiting(until date: Date?) -> Phrase {
        guard let date else { return Phrase("waiting for a network", "等待网络") }
        let milliseconds = max(0, Int(date.timeIntervalSinceNow * 1000))
        return Phrase("waiting: opened again in \(milliseconds) ms", "等待：\(milliseconds) 毫秒后重新连接")
    }

    private static func closed(_ error: TargetKitError?) -> Phrase {
        guard let error else { return Phrase("closed", "已关闭") }
        let phrase = Phrase(error)
        return Phrase("closed: \(phrase.english)", "已关闭：\(phrase.chinese)")
    }
}
