// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// Opens a WebSocket, and returns when its handshake has succeeded.
    ///
    /// The handshake is a call like any other: the target's URL, with `ws` for `http` and `wss` for `https`, its header
    /// fields, and what plugins do to calls: a token is added, and refreshed once after a 401. Its response has status
    /// 101. Cancelling the task cancels the handshake.
    ///
    /// ```swift
    /// let socket = try await provider.webSocket(.feed, options: .heartbeat(every: .seconds(30), timeout: .seconds(10)))
    /// for try await message in socket.messages { show(message) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The call: a GET without a body.
    ///   - options: Override the target's and the provider's options; default: none. Timeouts limit the handshake.
    /// - Throws: `TargetKitError`; of stage `.status`, with the response and its body, if the server refuses.
    public func webSocket(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> WebSocket {
        let driver = WebSocketDriver(clock: clock)
        do {
            _ = try await request(target, by: driver, options: options)
        } catch {
            // A plugin can make a failure of the response.
            driver.session.withLock { $0 }?.cancel(with: CancellationError())
            throw error
        }
        guard let session = driver.session.withLock({ $0 }) else {
            // A plugin has replaced the failure by a response.
            throw TargetKitError(stage: .transport, target: target, underlying: URLError(.cannotParseResponse))
        }
        return WebSocket(session)
    }
}
