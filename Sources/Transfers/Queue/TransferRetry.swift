// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The way in which a failed transfer is retried.
enum TransferRetry: Sendable {
    /// After a delay that applies to all transfers.
    case noResponse
    /// After a delay of this transfer, which the server can set.
    case unavailable(Duration?)

    /// `nil` if the failure is final.
    init?(_ error: TargetKitError, now: Date) {
        guard !AttemptOutcome(.failure(error)).isInterrupted, error.isMarked(.safeToRepeat) else { return nil }
        if error.isUnavailable {
            self = .unavailable(error.response.flatMap { RetryAfter.delay(in: $0.headers, now: now) })
        } else if error.isOutage {
            self = .noResponse
        } else {
            return nil
        }
    }
}

extension TargetKitError {
    /// Whether there was no connection, or it was lost before the response.
    fileprivate var isOutage: Bool {
        guard stage == .transport || stage == .request else { return false }
        return switch kind {
        case .offline, .cannotConnect, .timedOut: true
        // A response that is invalid or has another checksum isn't an outage. It would be received again.
        case .connectionLost: (underlying as? URLError)?.code == .networkConnectionLost
        default: false
        }
    }
}

/// The failures of a transfer since its last progress.
struct TransferInterruptions: Sendable {
    /// The maximum number of interruptions at or before the same position.
    private static let limit = 5
    /// The longest time for which a transfer may fail without progress.
    private static let longest = Duration.seconds(7 * 86_400)

    private var count = 0
    private var start: Duration?
    /// The largest number of bytes that a call transferred.
    private var best: Int64 = 0
    /// Whether the call transferred bytes.
    private var hasMoved = false

    mutating func callBegins() {
        hasMoved = false
    }

    mutating func callAdvances() {
        hasMoved = true
    }

    /// Records that a call was interrupted. Returns whether to retry the transfer.
    mutating func callFailed(with progress: TransferProgress?, at time: Duration) -> Bool {
        let start = start ?? time
        self.start = start
        guard let progress, hasMoved else { return time - start < Self.longest }
        if progress.completed > best {
            best = progress.completed
            (count, self.start) = (0, time)
            return true
        }
        count += 1
        return count < Self.limit && time - start < Self.longest
    }
}
