// SPDX-License-Identifier: MIT

/// The moment at which a file is moved to its destination. Either the call is cancelled before it, or it succeeds.
final class DownloadCommit: Sendable {
    private let handle: RequestHandle
    /// Whether the task of the call or its exchange is cancelled.
    private let isTaskCancelled = Locked(false)

    init(_ handle: RequestHandle) {
        self.handle = handle
    }

    var isCancelled: Bool { isTaskCancelled.withLock(\.self) }

    func cancel() { isTaskCancelled.withLock { $0 = true } }

    /// Moves the file, unless the call was cancelled before. If moving fails or the name is taken, the call can be
    /// cancelled again.
    ///
    /// - Parameter move: Returns whether the file is at its destination.
    func perform(_ move: () throws -> Bool) throws -> Bool {
        let isCommitted = isTaskCancelled.withLock { isTaskCancelled in !isTaskCancelled && handle.commit() }
        guard isCommitted else { throw CancellationError() }
        var isInPlace = false
        defer { if !isInPlace { handle.revokeCommit() } }
        isInPlace = try move()
        return isInPlace
    }
}
