// SPDX-License-Identifier: MIT

/// A transport that a call's handle can tell to end an exchange, also when the task that waits for it is not cancelled.
///
/// So the task may be the caller's own, which nobody but the caller may cancel. A task in between costs two changes of thread
/// for each call.
protocol InterruptibleTransport: Transport {
    typealias Waiter = UnsafeContinuation<TransportResponse, any Error>

    /// Begins one exchange, and ties it to the handle. The waiter hears of its end once: what ``Transport/send(_:)`` would
    /// return or throw, `URLError(.cancelled)` or `CancellationError` when the handle was interrupted.
    func start(_ request: TransportRequest, tiedTo handle: RequestHandle, for waiter: Waiter)
}

extension InterruptibleTransport {
    /// Performs the exchange in a task that is tied to the handle from its first wait on.
    func startTask(_ request: TransportRequest, tiedTo handle: RequestHandle, for waiter: Waiter) {
        handle.attach(
            Task.startingNow {
                do {
                    waiter.resume(returning: try await send(request))
                } catch {
                    waiter.resume(throwing: error)
                }
            }
        )
    }
}
