// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reports when calls use the network, for an activity indicator or for keeping an app awake.
///
/// ```swift
/// NetworkActivityPlugin { change, target in meter.record(change, target) }     // each call
/// NetworkActivityPlugin(anyInFlight: { isActive in spinner.show(isActive) })   // all calls together
/// ```
///
/// A call is reported as ``Change/began`` once, when it is first sent, and as ``Change/ended`` once, at its end: later attempts
/// belong to the same call, and so do the delays between them and the body of a stream. A call that fails before it is sent is not
/// reported. Calls that share an exchange are reported as one, while the exchange runs.
///
/// One plugin may serve any number of providers; it then counts their calls together. Closures run on any thread.
public struct NetworkActivityPlugin: Plugin {
    /// A change of a call.
    public enum Change: Sendable, Hashable, CaseIterable {
        /// The call was sent.
        case began
        /// The call has ended.
        case ended
    }

    private let callback: @Sendable (Change, any TargetType) -> Void
    private let count: OrderedCallback<Int, Bool>
    private let activity = PluginStorage<Activity>()

    /// `PluginPlace.observation`.
    public var place: PluginPlace { .observation }

    /// A plugin that reports each call.
    ///
    /// - Parameter onChange: Is called with `began` and `ended` of each call, in that order; for different calls possibly at the
    ///   same time.
    public init(_ onChange: @escaping @Sendable (_ change: Change, _ target: any TargetType) -> Void) {
        callback = onChange
        count = OrderedCallback(0) { _ in }
    }

    /// A plugin that reports when the first call begins and the last one ends.
    ///
    /// - Parameter anyInFlight: Is called with `true` and `false` in turn, never at the same time, starting with `true`. A change
    ///   during the call of the closure is reported after it, on the same thread.
    public init(anyInFlight: @escaping @Sendable (_ isActive: Bool) -> Void) {
        callback = { _, _ in }
        count = OrderedCallback(0, callback: anyInFlight)
    }

    /// Reports that the call began, at its first attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        guard context[activity] == nil else { return }
        context[activity] = Activity(of: context.target, callback, count)
    }

    /// Reports that the call has ended, if it was sent.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        context[activity]?.end()
    }
}

/// The network activity of a call. That of a shared exchange, which has no `didFinish`, ends when its context releases it.
private final class Activity: Sendable {
    private let target: any TargetType
    private let callback: @Sendable (NetworkActivityPlugin.Change, any TargetType) -> Void
    private let count: OrderedCallback<Int, Bool>
    private let hasEnded = Locked(false)

    init(
        of target: any TargetType,
        _ callback: @escaping @Sendable (NetworkActivityPlugin.Change, any TargetType) -> Void,
        _ count: OrderedCallback<Int, Bool>
    ) {
        self.target = target
        self.callback = callback
        self.count = count
        count.update { count, events in
            count += 1
            if count == 1 { events.append(true) }
        }
        callback(.began, target)
    }

    deinit {
        end()
    }

    func end() {
        let isFirst = hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
        guard isFirst else { return }
        count.update { count, events in
            count -= 1
            if count == 0 { events.append(false) }
        }
        callback(.ended, target)
    }
}
