// SPDX-License-Identifier: MIT

/// A transport that a call's handle can tell to end an exchange, also when the task that waits for it is not cancelled.
///
/// So the task may be the caller's own, which nobody but the caller may cancel. A task in between costs two changes of thread
/// for each call.
protocol InterruptibleTransport: Transport {
    /// Performs one exchange, and ties it to the handle. To cancel the task that waits need not end it.
    ///
    /// - Throws: what ``Transport/send(_:)`` throws, `URLError(.cancelled)` when the handle was interrupted.
    func send(_ request: TransportRequest, tiedTo handle: RequestHandle) async throws -> TransportResponse
}
