// SPDX-License-Identifier: MIT

/// How far a transfer has come, in bytes of the body.
public struct TransferProgress: Sendable, Hashable {
    /// Which body is meant.
    public enum Direction: Sendable, Hashable {
        /// The request's body, going out.
        case upload
        /// The response's body, coming in.
        case download
    }

    /// The bytes transferred so far.
    public var completed: Int64
    /// The bytes there are in all; `nil` when the other side has not said.
    public var total: Int64?
    /// Which body is meant.
    public var direction: Direction

    /// The progress of a transfer.
    public init(completed: Int64, total: Int64?, direction: Direction) {
        self.completed = completed
        self.total = total
        self.direction = direction
    }

    /// The part that is done, from 0 to 1; `nil` when the total is not known, 1 when there was nothing to transfer.
    public var fraction: Double? {
        guard let total else { return nil }
        return total <= 0 ? 1 : min(1, max(0, Double(completed) / Double(total)))
    }
}
