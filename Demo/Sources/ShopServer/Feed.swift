// SPDX-License-Identifier: MIT
import FlyingFox
import Foundation

/// `GET /feed`, a WebSocket: what is left of a product, a few times in a second.
struct Feed: WSMessageHandler {
    /// One message.
    struct Quote: Encodable {
        let product: String
        let name: String
        let cents: Int
        let left: Int
    }

    let stock: Stock
    let interval: Duration

    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        let (messages, continuation) = AsyncStream.makeStream(of: WSMessage.self)
        let ticking = Task {
            var tick = 0
            while !Task.isCancelled {
                continuation.yield(.text(try text(of: tick)))
                tick += 1
                try await Task.sleep(for: interval)
            }
        }
        let reading = Task {
            // Ends with the connection.
            for await _ in client {}
            ticking.cancel()
            continuation.finish()
        }
        continuation.onTermination = { _ in
            ticking.cancel()
            reading.cancel()
        }
        return messages
    }

    private func text(of tick: Int) throws -> String {
        let product = stock.all[tick % stock.all.count]
        let left = 40 - (tick * 7 + product.cents / 10) % 40
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let quote = Quote(product: product.id, name: product.name, cents: product.cents, left: left)
        return String(decoding: try encoder.encode(quote), as: UTF8.self)
    }
}
