// SPDX-License-Identifier: MIT

/// Which calls share one network call with those that ask for the same while it is in flight.
///
/// Two calls ask for the same when method, URL, header fields and body are equal after the plugins' `prepare` (a file
/// is compared by its path), and so are the destination of the response, the timeout of the exchange, and the
/// responder: the transport, or the same sample. Calls that share have one `willSend`, one `didReceive` and one
/// `retry`, in the context of the first of them; each has its own `prepare`, `process`, decoding, progress and callback
/// queue. Each is cancelled separately, and the network call is cancelled with the last of them. When the first of them
/// is cancelled, the network call continues in its context, also after its `process`: a plugin that keeps state for
/// each call creates it at attempt 0, and removes it in `process`. Streams are never shared.
///
/// ```swift
/// let provider = Provider<Catalog>(sharing: .where { target in target.method == .get })
/// ```
public struct InFlightSharing: Sendable {
    private let isShared: (@Sendable (any TargetType) -> Bool)?

    /// No call shares.
    public static let never = InFlightSharing(isShared: nil)
    /// Every call shares with identical ones.
    public static let identical = InFlightSharing { _ in true }

    /// Calls of those targets share with identical ones.
    ///
    /// - Parameter isShared: Sees the target, the inner one of a ``MultiTarget``.
    public static func `where`(_ isShared: @escaping @Sendable (any TargetType) -> Bool) -> InFlightSharing {
        InFlightSharing(isShared: isShared)
    }

    /// What the target says of itself goes first.
    func shares(_ target: any TargetType, _ traits: TargetTraits) -> Bool {
        if traits.canShare, let target = target as? any SharingTarget { return target.sharesInFlight }
        return isShared?(target) ?? false
    }
}
