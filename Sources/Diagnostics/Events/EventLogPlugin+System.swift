// SPDX-License-Identifier: MIT
#if canImport(os)
import TargetKit
import os

extension EventLogPlugin {
    /// Creates a log that writes to the system's log, in the category `Network`.
    ///
    /// Failed attempts and calls have the level `error`, retries `info`, and other steps `debug`, which the system
    /// discards unless a debugger or the Console app shows it. URLs and messages are private, so the system shows them
    /// only on devices that are configured for it.
    ///
    /// - Parameters:
    ///   - subsystem: The subsystem of the log, usually the app's identifier.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    public init(subsystem: String, redaction: Redaction = Redaction()) {
        let logger = Logger(subsystem: subsystem, category: "Network")
        self.init(redaction: redaction) { event in
            let level: OSLogType = event.failure != nil ? .error : event.step == .retry ? .info : .debug
            let head = "[\(event.call).\(event.attempt)] \(event.step.rawValue) \(event.target)"
            let status = event.statusCode.map { "\($0)" } ?? event.reason ?? ""
            let details = event.url ?? event.message ?? ""
            logger.log(
                level: level,
                "\(head, privacy: .public) \(status, privacy: .public) \(details, privacy: .private)"
            )
        }
    }
}
#endif
