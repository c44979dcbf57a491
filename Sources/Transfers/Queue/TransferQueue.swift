// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

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
/// Targets should use a resumable task, which is `HTTPTask.download(to:)` with `.resumable` or a resumable upload.
/// Other transfers start over after a pause or a launch. A transfer that was running when the process ended, or whose
/// call was cancelled by other code (`Provider.cancelAll()`, shutting down a scope), starts again at the next launch.
///
/// After a failure without a response, or status 408, 425, 429 or 500–599, the queue retries a transfer after a delay
/// that grows from 1 second to at most 5 minutes, or after the time in `Retry-After` if that is longer. A transfer fails
/// after 7 days without progress, or if it is interrupted 5 times at the same position. Any other failure is final.
///
/// A call that the server may have processed isn't made again, unless it is a resumable upload, its method is
/// idempotent, or it has an `Idempotency-Key`. This applies to failures, pauses, and the end of the process while the
/// call is in flight, after which the transfer fails. To make the call nevertheless, resume the failed transfer with
/// ``resume(_:)``.
///
/// A transfer belongs to the user who was signed in when it was added, as far as a plugin names the user
/// (`RequestContext.credentialOwner`), as an `AuthenticationPlugin` does. It fails while another user is signed in, or
/// nobody, and can be resumed when its user is signed in again. For this, the plugin's authenticator must implement
/// `Authenticator.user(of:)`; otherwise, each sign-in is another user. A transfer whose user couldn't be determined,
/// because the credential couldn't be read, belongs to the user whose credential is read first, unless a user has
/// signed in or the app was relaunched in the meantime.
///
/// A transfer is made to the base URL for which it was added, even if another environment is selected.
///
/// Create the queue with the same file at every launch. It restores unfinished transfers, and starts waiting ones
/// immediately. A released queue continues until its transfers have ended. To stop it, pause them.
public final class TransferQueue<Target: TargetType & Codable>: Sendable {
    let provider: Provider<Target>
    let options: CallOptions
    let reachability: Reachability?
    let content: ObservedValue<Content>
    let store: TransferStore?
    let servers: StoredCallServers
    /// The queue on which calls report their events.
    let callbacks = DispatchQueue(label: "TargetKit.transfers")
    let networkTask = Locked<Task<Void, Never>?>(nil)
    /// Starts transfers at the end of a delay.
    let delayTask = Locked<Task<Void, Never>?>(nil)
    let clock: any Clock<Duration>
    /// The time since the creation of the queue, which measures delays.
    let elapsed: ElapsedTime
    /// The readers of single transfers.
    let ends = KeyedChanges<UUID>()
    private let changes = ObservedChanges()

    /// The number of entries in the file that this version of the app can't decode, for example because a case of the
    /// target was renamed. The entries stay in the file.
    public let unreadableCount: Int

    /// Creates a queue, and starts the transfers that its file contains.
    ///
    /// - Parameters:
    ///   - provider: Makes the calls. Its clock measures the delays.
    ///   - file: The file that stores the transfers, in a folder that isn't synchronized. It contains the targets as
    ///     JSON and has mode 0600, so targets should not contain secrets. Default `nil`: the transfers are stored in
    ///     memory.
    ///   - maxConcurrent: The maximum number of running transfers, at least 1; default: 3.
    ///   - options: Override the target's and the provider's options, for example
    ///     `.setting(\.allowsExpensive, false)`; default: none.
    ///   - reachability: Reports whether the transfers may use the network. Transfers start only while they may, and a
    ///     transfer that fails without a network waits for it. The queue starts the object. Default `nil`: failed
    ///     transfers are retried after delays, regardless of the network.
    /// - Throws: ``TransferQueueError`` if the file can't be used.
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
        clock = provider.clock
        elapsed = ElapsedTime(provider.clock)
        var content = Content(maxConcurrent: max(1, maxConcurrent))
        if let file {
            let store = try TransferStore(file)
            for stored in store.transfers {
                content.nextNumber = max(content.nextNumber, stored.number + 1)
                guard let transfer: Transfer<Target> = stored.transfer(), let json = stored.target else { continue }
                content.insert(Item(transfer, json: json, stored: stored))
            }
            unreadableCount = store.unreadableCount + store.transfers.count - content.order.count
            self.store = store
        } else {
            unreadableCount = 0
            store = nil
        }
        let observed = ObservedValue(content)
        self.content = observed
        servers = StoredCallServers { observed.value.transfersElsewhere(than: provider.baseURL) }
        observeNetwork()
        startWaiting()
    }

    deinit {
        networkTask.withLock { $0?.cancel() }
        delayTask.withLock { $0?.cancel() }
        content.finish()
    }

    /// The transfers in the order in which they were added, including those that have ended.
    ///
    /// A SwiftUI view that reads this property is updated when the transfers change (iOS 17, macOS 14).
    public var transfers: [Transfer<Target>] {
        changes.access()
        return content.value.transfers
    }

    /// The transfer with an identifier; `nil` if the queue doesn't have it.
    public subscript(id: UUID) -> Transfer<Target>? {
        changes.access()
        return content.read { $0.items[id]?.transfer }
    }

    /// A sequence of the current transfers, and of the transfers after each change. A slow reader receives only the
    /// latest value. The sequence ends when the queue is released. Each sequence supports one reader.
    public var updates: AsyncStream<[Transfer<Target>]> {
        let content = content
        let changes = content.changes()
        return AsyncStream {
            for await _ in changes { return content.value.transfers }
            return nil
        }
    }

    /// The maximum number of running transfers, at least 1. Lowering it doesn't stop running transfers.
    public var maxConcurrent: Int {
        get { content.read(\.maxConcurrent) }
        set {
            content.update { $0.maxConcurrent = max(1, newValue) }
            startWaiting()
        }
    }

    /// The error of the last write to the file, or `nil` if it succeeded. Failed changes are written with the next
    /// change. If the app is terminated before that, they are lost, and a paused transfer starts again, for example.
    public var storageError: TransferQueueError? { content.read(\.storageError) }

    /// Waits until a transfer has ended, and returns its response.
    ///
    /// - Throws: The `TargetKitError` of the transfer, `CancellationError` if the transfer or the waiting task is
    ///   cancelled, or ``TransferQueueError/unknownTransfer(_:)``.
    public func response(of id: UUID) async throws -> Response {
        for await _ in ends.changes(of: id) {
            guard let transfer = content.read({ $0.items[id]?.transfer }) else { break }
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
