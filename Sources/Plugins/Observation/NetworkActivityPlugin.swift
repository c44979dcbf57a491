// SPDX-License-Identifier: MIT
import TargetKit

/// Reports when calls use the network, for example to measure use or to keep an app awake. To show activity to the
/// user, use a ``LoadingPlugin``, which combines all calls.
///
/// ```swift
/// NetworkActivityPlugin { change, target in meter.record(change, target) }
/// ```
///
/// A call is reported as ``Change/began`` once, when it is first sent, and as ``Change/ended`` once, at its end. The
/// call includes later attempts, the delays between them, and the body of a stream. A call that fails before it is sent
/// isn't reported. Calls that share an exchange are reported as one call.
///
/// Several providers can share a plugin. The closure runs on the main actor; calls don't wait for it.
public struct NetworkActivityPlugin: Plugin {
    /// A change of a call.
    public enum Change: Sendable, Hashable {
        /// The call was sent.
        case began
        /// The call has ended.
        case ended
    }

    private let callback: @Sendable (Change, any TargetType) -> Void
    private let activity = PluginStorage<Activity>()

    /// `PluginPlace.observation`.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.willSend, .didFinish] }

    /// Creates a plugin that reports each call.
    ///
    /// - Parameter onChange: Called with `began` and `ended` of each call, in that order, on the main actor.
    public init(_ onChange: @escaping @MainActor @Sendable (_ change: Change, _ target: any TargetType) -> Void) {
        callback = { change, target in MainActorQueue.async { onChange(change, target) } }
    }

    /// Reports the start of the call at its first attempt.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        guard context[activity] == nil else { return }
        let target = context.target
        callback(.began, target)
        context[activity] = Activity { [callback] in callback(.ended, target) }
    }

    /// Reports the end of the call, if it was sent.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        context[activity]?.end()
    }
}
