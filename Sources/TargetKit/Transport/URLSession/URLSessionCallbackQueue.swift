// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)

/// The queue on which a session calls its delegate. It limits how far Foundation can get ahead of the delegate.
///
/// On Linux (Swift 6.3.1), Foundation adds an operation for each chunk of a body as fast as the server sends, without
/// waiting for previous operations, so unwritten data accumulates in memory. Therefore, adding an operation waits while
/// many are open. This delays every session of the process, because all sessions receive on one thread. The wait is
/// limited, so that a delegate that waits for another session can't deadlock.
///
/// `OperationQueue` is `@unchecked Sendable`, which Swift requires a subclass to repeat; the subclass only adds a
/// semaphore.
final class URLSessionCallbackQueue: OperationQueue, @unchecked Sendable {
    /// The maximum number of open operations. A chunk of a body has up to 16 KiB, so they contain about 4 MiB.
    static let limit = 256

    private let patience: DispatchTimeInterval
    private let room = DispatchSemaphore(value: 0)

    /// Creates a serial queue.
    ///
    /// - Parameter patience: The maximum time that adding an operation waits for space.
    init(patience: DispatchTimeInterval = .seconds(1)) {
        self.patience = patience
        super.init()
        maxConcurrentOperationCount = 1
        name = "TargetKit.URLSessionTransport"
        // Not set as the initial value, because releasing a semaphore below its initial value ends the process.
        for _ in 0..<Self.limit { room.signal() }
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        // An operation that adds another operation must not wait for itself.
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
