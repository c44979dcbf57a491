// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Shows that something is loading while any call runs that the person waits for.
///
/// ```swift
/// LoadingPlugin(timing: .init(delay: .milliseconds(200), shortest: .milliseconds(500))) { isLoading in
///     DispatchQueue.main.async { overlay.isHidden = !isLoading }
/// }
/// ```
///
/// `true` and `false` come in turn, starting with `true`, never at the same time, on any thread. A main queue keeps
/// their order, a `Task { @MainActor in … }` for each does not promise to.
///
/// A call counts from its `prepare` until `process`, all attempts and the waits between them included. A call that
/// fails before this plugin's `prepare` never counts; any other is let go of at its end, however it ends. Calls opt
/// out by ``LoadingTarget`` or by a closure. One plugin may serve any number of providers; it then shows their calls
/// together.
///
/// Order: first, so that a token that is fetched in the `prepare` of another plugin counts as loading.
public struct LoadingPlugin: Plugin {
    /// When to show, and for how long, so that quick calls do not flicker.
    public struct Timing: Sendable {
        /// How long calls run before they are shown; default zero: at once. Calls that are over by then are never
        /// shown.
        let delay: Duration
        /// How long is shown what is shown at all; default zero: until the last call ends.
        let shortest: Duration
        /// What both are measured by; default the continuous clock.
        let clock: any Clock<Duration>

        /// A timing; shown at once and only while calls run, unless told.
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

    private let isVisible: @Sendable (any TargetType) -> Bool
    private let indicator: LoadingIndicator

    /// A plugin that shows the calls of some targets.
    ///
    /// - Parameters:
    ///   - timing: When to show; default: at once, while calls run.
    ///   - isVisible: Whether a target's calls are shown. Default: ``LoadingTarget/showsLoading``, `true` for targets
    ///     that do not conform to it.
    ///   - onChange: Shows (`true`) and hides (`false`).
    public init(
        timing: Timing = Timing(),
        isVisible: @escaping @Sendable (any TargetType) -> Bool = { ($0 as? any LoadingTarget)?.showsLoading ?? true },
        onChange: @escaping @Sendable (_ isLoading: Bool) -> Void
    ) {
        self.isVisible = isVisible
        indicator = LoadingIndicator(timing: timing, onChange: onChange)
    }

    /// Counts the call, at the first attempt.
    public func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        // A network call that is shared may be repeated after its first call has been cancelled, and has ended.
        if context.attempt == 0, isVisible(context.target) { indicator.begin(context.id) }
        return request
    }

    /// Lets go of the call, if it was counted.
    public func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        indicator.end(context.id)
        return result
    }
}

/// A target that says whether the person has to see that its call runs. Targets that do not conform are shown.
public protocol LoadingTarget: TargetType {
    /// Whether a ``LoadingPlugin`` shows this call.
    var showsLoading: Bool { get }
}
