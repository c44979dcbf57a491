// SPDX-License-Identifier: MIT

/// Matches the system's completion handler for the events of a background session with their end. Either can come
/// first: the events of a launch may be delivered before the app delegate gets the handler.
@MainActor
final class BackgroundEvents {
    // The system's handler isn't `Sendable`; it is stored and called on the main actor.
    private var completion: (() -> Void)?
    private var hasHandled = false
    private var hasFinished = false

    nonisolated init() {}

    /// Stores the handler, or calls it if the events of this launch have been delivered.
    func handle(_ completion: @escaping () -> Void) {
        hasHandled = true
        if hasFinished {
            hasFinished = false
            return completion()
        }
        self.completion = completion
    }

    /// All events have been delivered. After the first handler, only events that follow a handler count.
    func finish() {
        guard let completion else {
            hasFinished = !hasHandled
            return
        }
        self.completion = nil
        completion()
    }
}
