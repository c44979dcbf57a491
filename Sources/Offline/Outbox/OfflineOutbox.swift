// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// Keeps calls that fail without a network connection, and sends them in order when the connection returns, even after
/// a relaunch of the app.
///
/// ```swift
/// enum Shop: TargetType, Codable { case order(Int) … }
///
/// let outbox = try OfflineOutbox(Provider<Shop>(plugins: [tokens]), storedIn: file, reachability: .shared)
/// switch try await outbox.send(.order(7)) {
/// case .sent(let response): show(response)
/// case .kept: showPending()
/// }
/// ```
///
/// Every attempt of a call has the same `Idempotency-Key`, even after a relaunch, so that a server that supports the
/// key processes the call once. For other servers, set `CallOptions.outboxPolicy` to ``OutboxPolicy/ifUnsent``. The
/// call is then sent at most once, without a key.
///
/// An entry belongs to the user with whose credential it was kept, as far as a plugin names the user
/// (`RequestContext.credentialOwner`), as an `AuthenticationPlugin` does. While another user is signed in, or nobody, it
/// isn't sent, but waits with the growing delay. If ``account`` is set, the next sign-in in this process counts as the
/// account's user. Otherwise, only the same session does, or the same `Authenticator.user(of:)`. An entry whose
/// credential couldn't be read when it was kept waits until it can be read, unless a user has signed in since.
///
/// An entry is sent to the base URL for which it was made, even if another environment is selected.
///
/// The file contains the targets as JSON and has mode 0600. It contains no credentials, because the provider's plugins
/// add them when an entry is sent. Several processes, such as an app and its extension, can use one file.
///
/// After a failure without a response, or status 408, 425, 429 or 500–599, an entry is retried after a delay that grows
/// from 1 second to at most 5 minutes, or after the time in `Retry-After` if that is longer. This includes status 409
/// with `Retry-After`, which means that the server is still processing an earlier request with the key. With
/// ``OutboxPolicy/ifUnsent``, such a failure is final unless nothing was sent. After status 401, entries wait until
/// ``sendNow()`` or until a call of ``send(_:)`` succeeds; with ``OutboxPolicy/ifUnsent``, it is final if the server
/// processed the call before a redirect. Any other status that the target doesn't accept is final: the entry fails, and
/// the next one is sent.
public final class OfflineOutbox<Target: TargetType & Codable>: Sendable {
    let provider: Provider<Target>
    let options: CallOptions
    let limits: OutboxLimits
    let reachability: Reachability?
    let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    let store: OutboxStore<Target>
    let servers: StoredCallServers
    /// The time since the creation of the outbox, which measures delays.
    let elapsed: ElapsedTime
    let readers = EventReaders<OutboxEntry<Target>>(bufferingPolicy: .bufferingNewest(1_000), earlyLimit: 100)
    let networkTask = Locked<Task<Void, Never>?>(nil)
    /// Sends entries at the end of a delay.
    let delayTask = Locked<Task<Void, Never>?>(nil)
    private var changes: ObservedChanges { store.changes }

    var content: ObservedValue<OutboxContent<Target>> { store.content }

    /// Creates an outbox, and sends the entries that its file contains. The file is read before this initializer
    /// returns.
    ///
    /// - Parameters:
    ///   - provider: Makes the calls.
    ///   - file: The file for the entries, in a folder that isn't synchronized with other devices; default `nil`: the
    ///     entries are stored in memory. Lock files are created beside it.
    ///   - account: An identifier of the signed-in user, which is written to the file; default `nil`. Only the entries
    ///     of this account are sent and shown.
    ///   - maximumAge: The age at which an entry expires; default: 7 days.
    ///   - maximumCount: The maximum number of entries; default: 1,000. Beyond it, failed and expired entries are
    ///     removed, starting with the oldest; if there are none, calls aren't kept.
    ///   - maximumByteCount: The maximum total size of the targets' JSON, in bytes; default: 10 MiB. It is enforced in
    ///     the same way.
    ///   - options: Override the target's and the provider's options; default: none.
    ///   - reachability: Reports whether the entries may use the network. They are sent only while they may. The outbox
    ///     starts the object. Default `nil`: entries are retried after delays, regardless of the network.
    ///   - clock: Measures the delays; default: the continuous clock.
    ///   - now: Returns the current date, for the age of entries.
    /// - Throws: ``OutboxError/unusableFile(path:reason:)`` if the file can't be used.
    public init(
        _ provider: Provider<Target>,
        storedIn file: URL? = nil,
        account: String? = nil,
        maximumAge: Duration = .seconds(7 * 86_400),
        maximumCount: Int = 1_000,
        maximumByteCount: Int = 10 << 20,
        options: CallOptions = CallOptions(),
        reachability: Reachability? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(OutboxError) {
        self.provider = provider
        limits = OutboxLimits(age: maximumAge, count: maximumCount, byteCount: maximumByteCount)
        self.options = options
        self.reachability = reachability
        self.clock = clock
        self.now = now
        elapsed = ElapsedTime(clock)
        let store = try OutboxStore<Target>(file, content: OutboxContent(account: account))
        self.store = store
        servers = StoredCallServers { store.content.value.callsElsewhere(than: provider.baseURL) }
        observeNetwork()
        startSending()
    }

    deinit {
        networkTask.withLock { $0?.cancel() }
        delayTask.withLock { $0?.cancel() }
        content.finish()
        readers.finish()
    }

    /// The entries of the account in the order in which they are sent, including those that have failed or expired.
    ///
    /// A SwiftUI view that reads this property is updated when the entries change (iOS 17, macOS 14). Entries that
    /// another process adds appear after the next operation of this outbox, for example ``sendNow()``.
    public var entries: [OutboxEntry<Target>] {
        changes.access()
        return content.value.entries
    }

    /// A sequence of the entries that this outbox changes, each in its new state. Changes by other processes aren't
    /// included.
    ///
    /// The first sequence begins with up to 100 of the latest changes since the outbox was created. If more than 1,000
    /// are unread, the oldest are dropped. A sequence ends when the outbox is released. Each sequence supports one
    /// reader.
    public var events: AsyncStream<OutboxEntry<Target>> { readers.stream() }

    /// The number of entries that this version of the app can't decode, for example because a case of the target was
    /// renamed. They stay in the file, and aren't sent.
    public var unreadableCount: Int {
        let content = content.value
        return content.damagedCount + content.items.all.count { $0.target == nil }
    }

    /// The error of the last operation on the file, or `nil` if it succeeded. Failed writes are repeated as long as
    /// this process runs.
    public var storageError: OutboxError? {
        changes.access()
        return content.value.storageError
    }

    /// The signed-in user; `nil` for none. Only the entries of this account are sent and shown.
    ///
    /// Set it before each sign-in, and to `nil` when the session ends. A change cancels the call in progress. With an
    /// `AuthenticationPlugin`, entries then wait for the next sign-in in this process or for ``sendNow()``, unless the
    /// session is the one in which they were kept. Later sign-ins don't count as the account's until it changes again.
    /// At sign-out, call ``removeAll()`` first, unless the entries should wait until the user signs in again.
    public var account: String? {
        get { content.value.account }
        set {
            typealias Calls = [Task<Result<Response, TargetKitError>, Never>]
            // The first reader must not receive the events of the account before. They are released outside the lock.
            let (tasks, _) = update { content -> (Calls, [OutboxEntry<Target>]) in
                guard content.account != newValue else {
                    content.announce()
                    return ([], [])
                }
                content.change(to: newValue)
                return (Array(content.firstAttempts.values) + [content.task].compactMap(\.self), readers.takeEarly())
            }
            for task in tasks { task.cancel() }
            startSending()
        }
    }

    /// Changes the state, and notifies readers and observers.
    @discardableResult
    func update<Result>(_ change: (inout OutboxContent<Target>) -> Result) -> Result {
        let result = content.update(change)
        changes.announce()
        return result
    }
}

#if canImport(Observation)
import Observation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension OfflineOutbox: Observable {}
#endif
