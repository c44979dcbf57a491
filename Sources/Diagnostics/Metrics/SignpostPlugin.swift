// SPDX-License-Identifier: MIT
#if canImport(os)
import TargetKit
import os

/// Shows each attempt of a call as an interval in Instruments, in the track of a subsystem, with the name of the target
/// and the number of the attempt.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [SignpostPlugin(subsystem: "com.example.shop")])
/// ```
///
/// An interval includes only the exchange, from `willSend` to `didReceive`. URLs, header fields and bodies aren't
/// written.
public struct SignpostPlugin: Plugin {
    private let subsystem: String

    /// `PluginPlace.observation`.
    public var place: PluginPlace { .observation }

    /// The hooks that the plugin implements.
    public var hooks: PluginHooks { [.willSend, .didReceive] }

    /// Creates a plugin that writes to the category `Network` of a subsystem, usually the app's identifier.
    public init(subsystem: String) {
        self.subsystem = subsystem
    }

    // The system stores one log for each pair of names, so the plugin need not store it.
    private var log: OSLog { OSLog(subsystem: subsystem, category: "Network") }

    /// Begins the attempt's interval.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let id = OSSignpostID(UInt64(context.id.description) ?? 0)
        let name = context.target.name
        // `%s` requires a C string, not an object, and `%d` takes 32 bits.
        os_signpost(.begin, log: log, name: "Call", signpostID: id, "%{public}@, attempt %ld", name, context.attempt)
    }

    /// Ends the attempt's interval, with the status code or the kind of failure.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let id = OSSignpostID(UInt64(context.id.description) ?? 0)
        let outcome =
            switch result {
            case .success(let response): "\(response.statusCode)"
            case .failure(let error): "\(error.kind)"
            }
        os_signpost(.end, log: log, name: "Call", signpostID: id, "%{public}@", outcome)
    }
}
#endif
