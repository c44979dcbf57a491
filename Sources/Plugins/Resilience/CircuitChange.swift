// SPDX-License-Identifier: MIT

/// That a circuit of a ``CircuitBreakerPlugin`` has opened, closed, or half opened.
public struct CircuitChange: Sendable, Hashable {
    /// Whose circuit it is: `https://shop.example`, or what the plugin's key closure says.
    public var key: String
    /// What it was.
    public var from: CircuitState
    /// What it is.
    public var to: CircuitState

    /// A change.
    public init(key: String, from: CircuitState, to: CircuitState) {
        self.key = key
        self.from = from
        self.to = to
    }
}
