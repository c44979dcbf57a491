// SPDX-License-Identifier: MIT
#if canImport(os)
import Foundation
import TargetKit
import os

/// Shows calls in Instruments: an interval for each attempt, in the track of a subsystem, named by target and attempt.
///
/// ```swift
/// let provider = Provider<Orders>(plugins: [SignpostPlugin(subsystem: "com.example.shop")])
/// ```
///
/// Neither URLs nor header fields nor bodies are written. Order: last, so that only the exchange is in the interval.
public struct SignpostPlugin: Plugin {
    private let subsystem: String

    /// A plugin that writes to the category `Network` of a subsystem, most often the app's identifier.
    public init(subsystem: String) {
        self.subsystem = subsystem
    }

    // The system keeps one log for each pair of names, so it is asked for each time and not stored.
    private var log: OSLog { OSLog(subsystem: subsystem, category: "Network") }

    /// Begins the attempt's interval.
    public func willSend(_ request: URLRequest, context: RequestContext) {
        let id = OSSignpostID(UInt64(context.id.description) ?? 0)
        let name = context.target.name
        // `%s` requires a C string, not an object, and `%d` takes 32 bits.
        os_signpost(.begin, log: log, name: "Call", signpostID: id, "%{public}@, attempt %ld", name, context.attempt)
    }

    /// Ends it, with the status or the kind of failure.
    public func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let id = OSSignpostID(UInt64(context.id.description) ?? 0)
        let ending =
            switch result {
            case .success(let response): "\(response.statusCode)"
            case .failure(let error): "\(error.kind)"
            }
        os_signpost(.end, log: log, name: "Call", signpostID: id, "%{public}@", ending)
    }
}
#endif
