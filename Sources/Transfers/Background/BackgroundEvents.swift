// SPDX-License-Identifier: MIT

/// Calls the system's completion handler after the last event of a background session. The events of a launch can be
/// delivered before the app delegate receives the handler.
@MainActor
final class BackgroundEvents {
    // The system's handler isn't `Sendable`, so it is stored and called on the main actor.
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

    /// Notes that all events have been delivered. After the first handler, only events that follow a handler count.
    func finish() {
        guard let completion else {
            hasFinished = !hasHandled
            return
        }
        self.completion = nil
        completion()
    }
}
