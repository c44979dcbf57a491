// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows that something is loading while calls run that a person waits for.
///
/// ```swift
/// LoadingPlugin(timing: .init(delay: .milliseconds(200), shortest: .milliseconds(500))) { isLoading in
///     DispatchQueue.main.async { overlay.isHidden = !isLoading }
/// }
/// ```
///
/// `true` and `false` alternate, starting with `true`, never at the same time, on any thread. The main queue keeps their order; a
/// `Task { @MainActor in … }` for each may not.
///
/// A call counts from its `prepare` to its end, with all attempts and the delays between them, and a stream to the end of its body.
/// A call that fails before `prepare` does not count. A call opts out by `CallOptions.showsLoading` or by a closure. One
/// plugin may serve any number of providers; it then shows their calls together.
public struct LoadingPlugin: Plugin {
    /// When to show, and for how long, so that short calls do not flicker.
    public struct Timing: Sendable {
        /// How long calls run before they are shown; default zero: at once. Calls that end before are not shown.
        let delay: Duration
        /// How long loading is shown at least; default zero: until the last call ends.
        let shortest: Duration
        /// The clock that measures both; default the continuous clock.
        let clock: any Clock<Duration>

        /// A timing; by default loading is shown at once and only while calls run.
        public init(
            delay: Duration = .zero,
            shortest: Duration = .zero,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.delay = delay
            self.shortest = shortest
            self.clock = clock
        }
    }

    private let isVisible: (@Sendable (any TargetType) -> Bool)?
    private let indicator: LoadingIndicator
    private let isCounted = PluginStorage<Bool>()

    /// `PluginPlace.start`, so that time in the `prepare` of other plugins counts, for example while a token is refreshed.
    public var place: PluginPlace { .start }

    /// A plugin that shows that calls run.
    ///
    /// - Parameters:
    ///   - timing: When to show; default: at once, while calls run.
    ///   - isVisible: Whether a target's calls are shown. Default `nil`: as `CallOptions.showsLoading` says.
    ///   - onChange: Shows (`true`) and hides (`false`).
    public init(
        timing: Timing = Timing(),
        isVisible: (@Sendable (any TargetType) -> Bool)? = nil,
        onChange: @escaping @Sendable (_ isLoading: Bool) -> Void
    ) {
        self.isVisible = isVisible
        indicator = LoadingIndicator(timing: timing, onChange: onChange)
    }

    /// Counts the call, at its first attempt.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        guard context[isCounted] == nil else { return request }
        let isShown = isVisible?(context.target) ?? context.options.showsLoading
        context[isCounted] = isShown
        if isShown { indicator.begin() }
        return request
    }

    /// Ends the call, if it was counted.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        if context[isCounted] == true { indicator.end() }
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
