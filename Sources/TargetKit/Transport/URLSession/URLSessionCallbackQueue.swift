// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation

/// The queue on which a session calls its delegate. It limits how far Foundation runs ahead of the delegate.
///
/// Linux, Swift 6.3.1: Foundation adds an operation for each piece of a body as fast as the server sends, without
/// waiting for the previous ones, so unwritten data accumulates in memory. Adding an operation therefore waits here
/// while many are open. This delays every session of the process, because all of them receive on one thread, so the
/// wait is limited: a delegate that waits for another session cannot deadlock.
///
/// `OperationQueue` is `@unchecked Sendable`, which Swift requires a subclass to repeat; the subclass only adds a
/// semaphore.
final class URLSessionCallbackQueue: OperationQueue, @unchecked Sendable {
    /// The maximum number of open operations. A piece of a body has up to 16 KiB, so they hold about 4 MiB.
    static let limit = 256

    private let patience: DispatchTimeInterval
    private let room = DispatchSemaphore(value: 0)

    /// Creates a serial queue.
    ///
    /// - Parameter patience: The maximum time that adding an operation waits for room.
    init(patience: DispatchTimeInterval = .seconds(1)) {
        self.patience = patience
        super.init()
        maxConcurrentOperationCount = 1
        name = "TargetKit.URLSessionTransport"
        // Not the initial value: releasing a semaphore whose value is below its initial one ends the process.
        for _ in 0..<Self.limit { room.signal() }
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        // An operation that adds another one must not wait for itself.
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
