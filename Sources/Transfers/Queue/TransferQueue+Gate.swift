// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A transport whose exchanges outlive the process. A request joins the exchange that an earlier process began.
///
/// When the system has launched the app to deliver responses, it suspends it as soon as the transport tells it that all
/// are delivered. The transport waits until the owner of each transfer that has received its response releases it.
protocol JoiningTransport: Transport {
    /// Notes that the owner of a transfer stores its result, and calls ``release(_:)`` then.
    func hold(_ transferID: String)

    /// Notes that the result of a transfer is on permanent storage.
    func release(_ transferID: String)
}

/// Whether a call, or an earlier call of its transfer, began a request that must not be sent twice.
final class BegunRequest: Sendable {
    /// Whether an earlier call began it.
    let isEarlier: Bool
    private let isBegun = Locked(false)

    init(isEarlier: Bool) {
        self.isEarlier = isEarlier
    }

    /// Notes that this call begins a request. Returns whether it is the first one.
    func begin() -> Bool {
        isBegun.withLock { isBegun in
            defer { isBegun = true }
            return !isBegun
        }
    }
}

extension TransferQueue {
    /// Admits the requests of a transfer's call: only with the credential of the transfer's owner, and not a second
    /// time if that isn't safe. The beginning of a request that must not be sent twice is on permanent storage before
    /// its first byte is sent.
    func gate(of id: UUID, _ begun: BegunRequest) -> SendingGate {
        { [self] request, context in
            guard admits(Requester(context), for: id) else { throw CredentialError.ofOtherOwner }
            guard !request.urlRequest.isRepeatable(), context.transfer?.isRepeatable != true else { return }
            if begun.isEarlier {
                guard provider.transport is any JoiningTransport else { throw BegunTransfer() }
                request.mustJoin = true
            } else if begun.begin() {
                try await storeBeginning(of: id)
                try Task.checkCancellation()
            }
        }
    }

    /// Whether a transfer may be made with a request's credential. A credential that couldn't be read when the transfer
    /// was added becomes known, unless a user has signed in since.
    private func admits(_ requester: Requester, for id: UUID) -> Bool {
        guard let item = content.read({ $0.items[id] }) else { return true }
        let isElsewhere = item.isElsewhere(than: provider.baseURL)
        if servers.isOther(for: id, requester, isElsewhere: isElsewhere) {
            return !item.isOwnerUncertain && requester.isSession(item.session, of: item.owner)
        }
        guard item.isOwnerUncertain else { return item.owner == nil || item.owner == requester.identifier }
        guard item.sessionCount.map(requester.isUnchanged) == true else { return false }
        content.update { content in save(content.setOwner(requester, of: id).map { [$0] } ?? []) }
        return true
    }

    /// Returns when the file contains that a request of a transfer begins.
    private func storeBeginning(of id: UUID) async throws {
        let failure: TransferQueueError? = await withUnsafeContinuation { continuation in
            // Under the lock, so that changes are stored in order.
            content.update { content in
                guard let record = content.begin(id), let store else { return continuation.resume(returning: nil) }
                store.write([record]) { continuation.resume(returning: $0) }
            }
        }
        if let failure { throw failure }
    }
}

/// A transfer isn't made again, because the server may have processed an earlier call.
struct BegunTransfer: Error, ErrorWithKind, ReflectsDescription {
    var kind: TargetKitError.Kind? { .connectionLost }

    /// What happened, and how to resolve it.
    var description: String {
        "an earlier call of the transfer was interrupted, and the server may have processed it; "
            + "resume the transfer to make the call again"
    }
}
