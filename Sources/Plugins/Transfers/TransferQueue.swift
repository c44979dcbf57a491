// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(Observation)
import Observation
#endif

/// Runs downloads and uploads, limits how many run at once, waits for the network, and continues after the app is
/// relaunched.
///
/// ```swift
/// enum Media: TargetType, Codable { case film(id: Int), photo(URL) … }
///
/// let queue = try TransferQueue(Provider<Media>(), storedIn: support.appendingPathComponent("media.queue"))
/// let id = try await queue.add(.film(id: 7), priority: .high)
/// for await transfers in queue.updates { show(transfers) }
/// ```
///
/// Targets should use a task that can be continued, `HTTPTask.download(to:)` with `.resumable` or a resumable upload:
/// other transfers begin again after a pause or a launch. A transfer that was running when the process ended, or when
/// its call was cancelled other than by the queue (`Provider.cancelAll()`, a scope that is shut down), starts again at
/// the next launch.
///
/// Create the queue with the same file at every launch. A queue that is released goes on until its transfers have
/// ended: pause them to stop it. Transfers that have not ended are restored; waiting ones start immediately.
public final class TransferQueue<Target: TargetType & Codable>: Sendable {
    struct Item: Sendable {
        var transfer: Transfer<Target>
        let number: Int
        /// The description of the failure. Not asked of the error under the lock, because that can run code of the app.
        var failure: String?
        /// The call, from its start to its completion.
        var call: Call?

        enum Call: Sendable {
            case starting
            case started(RequestHandle)
        }
    }

    struct Content: Sendable {
        var items: [UUID: Item] = [:]
        /// The identifiers in the order of the numbers.
        var order: [UUID] = []
        var nextNumber = 0
        /// The number of changes, which orders the records in the file.
        var revision = 0
        var maxConcurrent: Int
        var storageError: TransferQueueError?
        /// The number of calls that have not ended, also of transfers that are paused or removed by now.
        var callCount = 0

        /// The record of a transfer after a change.
        mutating func record(of item: Item) -> StoredTransfer<Target> {
            revision += 1
            return StoredTransfer(item.transfer, number: item.number, revision: revision, failure: item.failure)
        }

        var transfers: [Transfer<Target>] { order.compactMap { items[$0]?.transfer } }

        /// Marks the waiting transfers for which there is room as running, and returns them.
        mutating func startNext() -> [Transfer<Target>] {
            var starting: [Transfer<Target>] = []
            while callCount < maxConcurrent {
                var next: Item?
                for id in order {
                    guard let item = items[id], item.call == nil, item.transfer.state.isWaiting else { continue }
                    if let other = next, other.transfer.priority >= item.transfer.priority { continue }
                    next = item
                    if item.transfer.priority == .high { break }
                }
                guard let next else { break }
                items[next.transfer.id]?.call = .starting
                items[next.transfer.id]?.transfer.state = .running
                callCount += 1
                starting.append(next.transfer)
            }
            return starting
        }
    }

    let provider: Provider<Target>
    let options: CallOptions
    let reachability: Reachability?
    let content: ObservedValue<Content>
    let store: TransferStore<Target>?
    /// The queue on which calls report.
    let callbacks = DispatchQueue(label: "TargetKit.transfers")
    let networkTask = Locked<Task<Void, Never>?>(nil)
    private let changes = ObservedChanges()

    /// The number of entries in the file that this version of the app cannot decode, for example because a case of the
    /// target was renamed. They stay in the file.
    public let unreadableCount: Int

    /// Creates a queue, and starts the transfers that its file contains.
    ///
    /// - Parameters:
    ///   - provider: Makes the calls. With a `RetryPlugin`, a transfer that is interrupted is repeated before it fails.
    ///   - file: Where the transfers are kept, in a folder that is not synchronized. Targets are written to it as JSON,
    ///     with mode 0600: they should not contain secrets. Default `nil`: they are kept in memory.
    ///   - maxConcurrent: How many transfers run at the same time; default: 3, at least 1.
    ///   - options: Override the target's and the provider's options, for example
    ///     `.setting(\.allowsExpensive, false)`; default: none.
    ///   - reachability: Transfers start only while it reports a network that they may use, and one that fails without
    ///     a network waits. The queue starts it. Default `nil`: the network is not considered.
    /// - Throws: ``TransferQueueError`` if the file cannot be used.
    public init(
        _ provider: Provider<Target>,
        storedIn file: URL? = nil,
        maxConcurrent: Int = 3,
        options: CallOptions = CallOptions(),
        reachability: Reachability? = nil
    ) throws(TransferQueueError) {
        self.provider = provider
        self.options = options
        self.reachability = reachability
        var content = Content(maxConcurrent: max(1, maxConcurrent))
        if let file {
            let store = try TransferStore<Target>(file)
            for stored in store.transfers {
                guard let transfer = stored.transfer else { continue }
                content.items[stored.id] = Item(transfer: transfer, number: stored.number, failure: stored.failure)
                content.order.append(stored.id)
                content.nextNumber = max(content.nextNumber, stored.number + 1)
            }
            unreadableCount = store.unreadableCount
            self.store = store
        } else {
            unreadableCount = 0
            store = nil
        }
        self.content = ObservedValue(content)
        observeNetwork()
        startWaiting()
    }

    deinit {
        networkTask.withLock { $0?.cancel() }
        content.finish()
    }

    /// The transfers in the order in which they were added, including those that have ended.
    ///
    /// In SwiftUI, a view that reads them is updated when they change (iOS 17, macOS 14).
    public var transfers: [Transfer<Target>] {
        changes.access()
        return content.value.transfers
    }

    /// A transfer; `nil` if the queue does not have it.
    public subscript(id: UUID) -> Transfer<Target>? {
        changes.access()
        return content.value.items[id]?.transfer
    }

    /// The current transfers, followed by the transfers after each change. A slow reader receives only the latest
    /// value. The sequence ends when the queue is released. Each sequence has one reader.
    public var updates: AsyncStream<[Transfer<Target>]> {
        let content = content
        let changes = content.changes()
        return AsyncStream {
            for await _ in changes { return content.value.transfers }
            return nil
        }
    }

    /// How many transfers run at the same time, at least 1. Lowering it does not stop running transfers.
    public var maxConcurrent: Int {
        get { content.value.maxConcurrent }
        set {
            content.update { $0.maxConcurrent = max(1, newValue) }
            startWaiting()
        }
    }

    /// The error of the last write to the file, or `nil` if it succeeded. Changes that could not be written are written
    /// with the next one; until then a launch does not know them, and for example starts a paused transfer again.
    public var storageError: TransferQueueError? { content.value.storageError }

    /// Waits until a transfer has ended, and returns its response.
    ///
    /// - Throws: The `TargetKitError` of the transfer, `CancellationError` if it was cancelled or the waiting task is,
    ///   or ``TransferQueueError/unknownTransfer(_:)``.
    public func response(of id: UUID) async throws -> Response {
        for await _ in content.changes() {
            guard let transfer = content.value.items[id]?.transfer else { break }
            switch transfer.state {
            case .finished(let response): return response
            case .failed(let error): throw error
            case .cancelled: throw CancellationError()
            case .waiting, .running, .paused: continue
            }
        }
        try Task.checkCancellation()
        throw TransferQueueError.unknownTransfer(id)
    }
}

// MARK: - Observation

extension TransferQueue {
    /// Changes the content and notifies readers and observers.
    @discardableResult
    func update<Result: Sendable>(_ change: (inout Content) -> Result) -> Result {
        let result = content.update(change)
        announce()
        return result
    }

    /// Notifies observers.
    func announce() {
        changes.announce()
    }
}

#if canImport(Observation)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension TransferQueue: Observable {}
#endif
