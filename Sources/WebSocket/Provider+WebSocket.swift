// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// Opens a WebSocket, and returns when the handshake has succeeded.
    ///
    /// The handshake is a call with the target's URL (`http` for `ws`, `https` for `wss`) and header fields. Plugins
    /// process it like any other call. For example, they add a token, and refresh it once after a 401. The status of
    /// the response is 101. Cancelling the task cancels the handshake.
    ///
    /// ```swift
    /// let socket = try await provider.webSocket(.feed, options: .heartbeat(every: .seconds(30), timeout: .seconds(10)))
    /// for try await message in socket.messages { show(message) }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The target of the handshake, a GET without a body.
    ///   - options: Override the target's and the provider's options; default: none. Timeouts limit the handshake.
    /// - Throws: `TargetKitError`; of stage `.status`, with the response and its body, if the server rejects the
    ///   handshake; of stage `.transport`, with the response, if the response breaks the rules (RFC 6455 §4.1).
    public func webSocket(
        _ target: Target,
        options: CallOptions = CallOptions()
    ) async throws(TargetKitError) -> WebSocket {
        let driver = WebSocketDriver(clock: clock)
        do {
            _ = try await request(target, by: driver, options: options)
        } catch {
            // A plugin can turn the response into a failure.
            driver.session.withLock { $0 }?.cancel(with: CancellationError())
            throw error
        }
        guard let session = driver.session.withLock({ $0 }) else {
            // A plugin replaced the failure with a response.
            throw TargetKitError(stage: .transport, target: target, underlying: URLError(.cannotParseResponse))
        }
        return WebSocket(session)
    }
}
