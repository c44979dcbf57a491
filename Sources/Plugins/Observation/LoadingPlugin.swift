// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows a loading indicator while calls are in flight.
///
/// ```swift
/// LoadingPlugin(delay: .milliseconds(200), shortest: .milliseconds(500)) { isLoading in
///     overlay.isHidden = !isLoading
/// }
/// ```
///
/// `true` and `false` alternate, starting with `true`, on the main actor. A call doesn't wait for the closure, which
/// can run after the call has ended.
///
/// A call counts from its `prepare` to its end, with all attempts and the delays between them, and a stream to the end
/// of its body. A call that fails before `prepare` doesn't count. A call opts out by `CallOptions.showsLoading`. One
/// plugin may serve any number of providers; it then shows their calls together.
public struct LoadingPlugin: Plugin {
    private let indicator: LoadingIndicator
    private let activity = PluginStorage<Permit<Void>>()

    /// `PluginPlace.start`, so that time in the `prepare` of other plugins counts, for example while a token is
    /// refreshed.
    public var place: PluginPlace { .start }

    /// The hooks that it implements.
    public var hooks: PluginHooks { [.prepare, .didFinish] }

    /// Creates a plugin that shows a loading indicator.
    ///
    /// - Parameters:
    ///   - delay: How long calls run before they are shown, so that short calls don't flicker; calls that end before
    ///     aren't shown. Default zero: at once.
    ///   - shortest: How long loading is shown at least; default zero: until the last call ends.
    ///   - clock: Measures both; default: the continuous clock.
    ///   - onChange: Shows (`true`) and hides (`false`), on the main actor.
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
        // Stored first: the app's closure, which `begin` calls, may end the call.
        context[activity] = Permit(()) { [indicator] _, _ in indicator.end() }
        indicator.begin()
        return request
    }

    /// Ends the call, if it was counted.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        context[activity]?.end(.nothing)
    }
}

extension CallOptions {
    /// Whether a `LoadingPlugin` shows that the call runs; default `true`.
    public var showsLoading: Bool {
        get { self[ShowsLoadingKey.self] }
        set { self[ShowsLoadingKey.self] = newValue }
    }
}

private enum ShowsLoadingKey: CallOptionKey { static let defaultValue = true }
