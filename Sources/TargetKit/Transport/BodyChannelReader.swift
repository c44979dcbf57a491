// SPDX-License-Identifier: MIT
import Foundation

/// Where the pieces of a channel come from, as its reader sees it.
protocol BodyOrigin: Sendable {
    /// There is room in the channel again.
    func goOn()

    /// Nobody wants the rest: the exchange is over, unless it was before.
    func abandon()
}

/// The reader's end of a channel: when nobody holds it any more, the exchange is over.
final class BodyChannelReader<Origin: BodyOrigin>: Sendable {
    private let channel: BodyChannel
    private let origin: Origin

    init(_ channel: BodyChannel, from origin: Origin) {
        self.channel = channel
        self.origin = origin
    }

    deinit {
        origin.abandon()
    }

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await channel.next { origin.goOn() }
        } onCancel: {
            origin.abandon()
        }
    }
}

extension ResponseBody {
    /// The body that comes through a channel.
    init(_ channel: BodyChannel, from origin: some BodyOrigin) {
        let reader = BodyChannelReader(channel, from: origin)
        self.init { try await reader.next() }
    }
}
