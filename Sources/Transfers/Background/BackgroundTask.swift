// SPDX-License-Identifier: MIT
import TargetKit

/// The tasks of a background session, without URLSession's types, so that ``BackgroundTransfers`` can be tested on
/// every platform.
protocol BackgroundTasks: Sendable {
    /// Passes the tasks of the session, including tasks of earlier launches, after all pending events.
    func list(_ receive: @escaping @Sendable ([BackgroundTask]) -> Void)

    /// Creates a suspended task.
    func make(_ work: BackgroundTask.Work, named name: BackgroundTask.Name) -> BackgroundTask
}

/// A task of a background session.
struct BackgroundTask: Sendable {
    enum State: Sendable {
        case suspended, running, canceling, completed
    }

    enum Work: Sendable {
        case upload(URLRequest, from: URL)
        case download(URLRequest)
        /// Resumes a download with the system's resume data.
        case continuation(Data)
    }

    /// The name of a task, which outlives the process.
    struct Name: Sendable, Hashable, LosslessStringConvertible {
        /// The key of the transfer.
        let transfer: String
        /// Distinguishes the tasks of a transfer. Each task has its own files.
        let attempt: String

        init(transfer: String, attempt: String = UUID().uuidString) {
            self.transfer = transfer
            self.attempt = attempt
        }

        init?(_ description: String) {
            let parts = description.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
            self.init(transfer: String(parts[0]), attempt: String(parts[1]))
        }

        var description: String { "\(transfer).\(attempt)" }
    }

    /// The identifier of the task within its session.
    let identifier: Int
    /// `nil` for a task that wasn't created by TargetKit.
    let name: Name?
    let state: State
    let resume: @Sendable () -> Void
    /// Cancels the task, and passes the resume data of its download, if any.
    let cancel: @Sendable (_ receive: @escaping @Sendable (Data?) -> Void) -> Void
}
