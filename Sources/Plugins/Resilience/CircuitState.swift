// SPDX-License-Identifier: MIT

/// Whether a ``CircuitBreakerPlugin`` lets calls through.
public enum CircuitState: String, Sendable, Hashable, CaseIterable {
    /// All calls go through.
    case closed
    /// None does.
    case open
    /// A few do, to see whether the server works again.
    case halfOpen
}
