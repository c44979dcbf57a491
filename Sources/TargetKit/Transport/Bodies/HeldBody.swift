// SPDX-License-Identifier: MIT
import Foundation

/// Where the pieces of a body come from.
protocol BodyOrigin: Sendable {
    /// The next piece; `nil` at the end.
    func next() async throws -> Data?

    /// Nobody wants the rest: the exchange is over, unless it was before.
    func abandon()
}

/// A body that somebody reads: when nobody holds it any more, and when the task that reads is cancelled, its exchange is over.
private final class HeldBody<Origin: BodyOrigin>: Sendable {
    private let origin: Origin

    init(_ origin: Origin) {
        self.origin = origin
    }

    deinit {
        origin.abandon()
    }

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await origin.next()
        } onCancel: {
            origin.abandon()
        }
    }
}

extension ResponseBody {
    /// The body that comes from there, for as long as somebody holds it.
    init(from origin: some BodyOrigin) {
        let body = HeldBody(origin)
        self.init { try await body.next() }
    }
}
