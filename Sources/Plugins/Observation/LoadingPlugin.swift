// SPDX-License-Identifier: MIT
import TargetKit

/// Shows a loading indicator while calls are in flight.
///
/// ```swift
/// LoadingPlugin(delay: .milliseconds(200), shortest: .milliseconds(500)) { isLoading in
///     overlay.isHidden = !isLoading
/// }
/// ```
///
/// The closure is called alternately with `true` and `false`, starting with `true`, on the main actor. A call doesn't
/// wait for the closure, which can run after the call has ended.
///
/// A call counts from `prepare` to its end, including all attempts and the delays between them; a stream, to the end of
/// its body. A call that fails before `prepare` doesn't count. Calls opt out with `CallOptions.showsLoading`. Several
/// providers can share a plugin, which then shows their calls together.
public struct LoadingPlugin: Plugin {
    private let indicator: LoadingIndicator
    private let activity = PluginStorage<Activity>()

    /// `PluginPlace.start`, so that the time in the `prepare` of other plugins counts, for example during a token
    /// refresh.
    public var place: PluginPlace { .start }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.prepare, .didFinish] }

    /// Creates a plugin that shows a loading indicator.
    ///
    /// - Parameters:
    ///   - delay: The time after which calls are shown, so that short calls don't cause flicker; default: zero. Calls
    ///     that end earlier aren't shown.
    ///   - shortest: The minimum time for which the indicator is shown; default: zero, until the last call ends.
    ///   - clock: Measures both; default: the continuous clock.
    ///   - onChange: Shows (`true`) or hides (`false`) the indicator, on the main actor.
    public init(
        delay: Duration = .zero,
        shortest: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @MainActor @Sendable (_ isLoading: Bool) -> Void
    ) {
        indicator = LoadingIndicator(delay: delay, shortest: shortest, clock: clock) { isLoading in
            MainActorQueue.async { onChange(isLoading) }
        }
    }

    /// Counts the call, at its first attempt.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard context[activity] == nil, context.options.showsLoading else { return request }
        // Stored first, because `begin` calls the app's closure, which may end the call.
        context[activity] = Activity { [indicator] in indicator.end() }
        indicator.begin()
        return request
    }

    /// Ends the call, if it was counted.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        context[activity]?.end()
    }
}

extension CallOptions {
    /// Whether a `LoadingPlugin` shows the call; default `true`.
    public var showsLoading: Bool {
        get { self[ShowsLoadingKey.self] }
        set { self[ShowsLoadingKey.self] = newValue }
    }
}

private enum ShowsLoadingKey: CallOptionKey { static let defaultValue = true }
