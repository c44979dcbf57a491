// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tells when calls use the network, for an activity indicator or for keeping an app awake.
///
/// ```swift
/// NetworkActivityPlugin { change, target in meter.record(change, target) }     // each call
/// NetworkActivityPlugin(anyInFlight: { isActive in spinner.show(isActive) })   // all calls together
/// ```
///
/// A call has ``Change/began`` once, when it is first sent, and ``Change/ended`` once, when its result stands:
/// attempts that follow belong to the same call, and so does the wait between them. A call that fails before it is
/// sent has neither. A call that is cancelled ends like any other.
///
/// One plugin may serve any number of providers; it then counts their calls together. Closures run on any thread.
///
/// Order: last, so that `ended` comes when the other plugins are done with the result.
public struct NetworkActivityPlugin: Plugin {
    /// What a call has done.
    public enum Change: Sendable, Hashable, CaseIterable {
        /// The call was sent.
        case began
        /// The call has its result.
        case ended
    }

    private let callback: @Sendable (Change, any TargetType) -> Void
    private let calls: OrderedCallback<Set<RequestContext.ID>, Bool>

    /// A plugin that tells of each call.
    ///
    /// - Parameter onChange: Is called with `began` and `ended` of each call, in that order; those of different calls
    ///   may run at the same time.
    public init(_ onChange: @escaping @Sendable (_ change: Change, _ target: any TargetType) -> Void) {
        callback = onChange
        calls = OrderedCallback([]) { _ in }
    }

    /// A plugin that tells when the first call begins and the last one ends.
    ///
    /// - Parameter anyInFlight: Is called with `true` and `false` in turn, never at the same time, starting with
    ///   `true`. A change that comes while it runs is delivered after it, by the thread that is in it.
    public init(anyInFlight: @escaping @Sendable (_ isActive: Bool) -> Void) {
        callback = { _, _ in }
        calls = OrderedCallback([], callback: anyInFlight)
    }

    /// Begins, at the first attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        // A network call that is shared may be repeated after its first call has been cancelled, and has ended.
        guard context.attempt == 0 else { return }
        let isNew = calls.update { calls, events in
            let isNew = calls.insert(context.id).inserted
            if isNew, calls.count == 1 { events.append(true) }
            return isNew
        }
        if isNew { callback(.began, context.target) }
    }

    /// Ends, if the call was sent.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        let wasSent = calls.update { calls, events in
            let wasSent = calls.remove(context.id) != nil
            if wasSent, calls.isEmpty { events.append(false) }
            return wasSent
        }
        if wasSent { callback(.ended, context.target) }
        return result
    }
}
