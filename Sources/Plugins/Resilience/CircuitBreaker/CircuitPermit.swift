// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Admits one attempt to a circuit. It ends once: with the attempt, or when both the call and the exchange that it has begun have
/// released it.
final class CircuitPermit: Sendable {
    let key: String
    /// The URL that the attempt asks for.
    let url: URL?
    let admission: Circuit.Admission
    /// When the attempt was sent, if that is measured.
    let sentAt = Locked<Duration?>(nil)
    private let hasEnded = Locked(false)
    private let giveBack: @Sendable (Circuit.Admission) -> Void

    /// - Parameter giveBack: Ends the admission of an attempt that has no end of its own.
    init(
        _ admission: Circuit.Admission,
        to key: String,
        for url: URL?,
        giveBack: @escaping @Sendable (Circuit.Admission) -> Void
    ) {
        self.admission = admission
        self.key = key
        self.url = url
        self.giveBack = giveBack
    }

    deinit {
        if end() { giveBack(admission) }
    }

    /// Ends the permit; `false` if it has ended already.
    func end() -> Bool {
        hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
    }
}
