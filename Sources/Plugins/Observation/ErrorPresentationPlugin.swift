// SPDX-License-Identifier: MIT
import TargetKit

/// Shows failed calls to the user, for example in a toast.
///
/// ```swift
/// ErrorPresentationPlugin { message, error in toast.show(message) }
///
/// try await provider.request(.suggestions, options: .setting(\.showsErrors, false))
/// ```
///
/// A failure is shown at most once, at the end of the call, after all attempts; for a stream, at the end of its body.
/// Cancelled calls, and calls that fail because their scope was shut down, aren't shown. Set `CallOptions.showsErrors`
/// to `false` for calls whose failures shouldn't be shown.
public struct ErrorPresentationPlugin: Plugin {
    private let present: @MainActor @Sendable (String, TargetKitError) -> Void

    /// `PluginPlace.observation`.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { .didFinish }

    /// Creates a plugin that shows failures.
    ///
    /// - Parameter present: Shows a failure, on the main actor. The message, `error.text(.summary)`, states what
    ///   happened and how to resolve it, in one line.
    public init(_ present: @escaping @MainActor @Sendable (_ message: String, _ error: TargetKitError) -> Void) {
        self.present = present
    }

    /// Shows the call's failure, unless the call opts out.
    public func didFinish(_ call: FinishedCall, context: RequestContext) {
        guard case .failure(let error) = call.result, error.stage != .cancelled, error.stage != .shutDown,
            context.options.showsErrors
        else { return }
        MainActorQueue.async { [present] in present(error.text(.summary), error) }
    }
}

extension CallOptions {
    /// Whether an `ErrorPresentationPlugin` shows the call's failure; default `true`.
    public var showsErrors: Bool {
        get { self[ShowsErrorsKey.self] }
        set { self[ShowsErrorsKey.self] = newValue }
    }
}

private enum ShowsErrorsKey: CallOptionKey { static let defaultValue = true }
