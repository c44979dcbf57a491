// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation

/// The queue on which a session calls its delegate: it lets Foundation run only so far ahead.
///
/// Linux, Swift 6.3.1: Foundation adds an operation for each piece of a body, as fast as the server sends, and asks nobody
/// whether the last one is done: what the delegate has not written yet piles up in memory. So adding one waits here while many
/// are open. That holds up every session of the process, since all of them receive on one thread; hence only for a while each
/// time, so that a delegate which waits for another session cannot wait for ever.
///
/// `OperationQueue` is `@unchecked Sendable`, and Swift wants it said again; the only thing added is a semaphore.
final class URLSessionCallbackQueue: OperationQueue, @unchecked Sendable {
    /// As many operations may be open; a piece of a body has up to 16 KiB, so these are some 4 MiB.
    static let limit = 256

    private let patience: DispatchTimeInterval
    private let room = DispatchSemaphore(value: 0)

    /// A serial queue.
    ///
    /// - Parameter patience: How long adding an operation waits for room.
    init(patience: DispatchTimeInterval = .seconds(1)) {
        self.patience = patience
        super.init()
        maxConcurrentOperationCount = 1
        name = "TargetKit.URLSessionTransport"
        // Not as its first value: a semaphore that goes with a lower one ends the process.
        for _ in 0..<Self.limit { room.signal() }
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        // An operation that adds another must not wait for itself.
        guard OperationQueue.current !== self, room.wait(timeout: .now() + patience) == .success else {
            return super.addOperation(block)
        }
        super.addOperation { [room] in
            block()
            room.signal()
        }
    }
}
#endif
