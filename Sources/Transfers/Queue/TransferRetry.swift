// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// How a transfer is tried again after a failure.
enum TransferRetry: Sendable {
    /// After the delay of all transfers.
    case noResponse
    /// After a delay of its own, which the server can determine.
    case unavailable(Duration?)

    /// `nil` if the failure is final.
    init?(_ error: TargetKitError, now: Date) {
        guard !AttemptOutcome(.failure(error)).isInterrupted, error.isSafeToRepeat else { return nil }
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
    /// Whether there was no connection, or none that lasted until the response.
    fileprivate var isOutage: Bool {
        guard stage == .transport || stage == .request else { return false }
        return switch kind {
        case .offline, .cannotConnect, .timedOut: true
        // Not a response that is invalid or has another checksum, which would be received again and again.
        case .connectionLost: (underlying as? URLError)?.code == .networkConnectionLost
        default: false
        }
    }

    /// Whether the server can't have processed the call, or another call is safe, or goes on with what it has.
    fileprivate var isSafeToRepeat: Bool {
        isUnsent || isContinuable
            || request?.isRepeatable() ?? HTTPMethod.idempotent.contains(target?.method ?? .get)
    }
}

/// The failures of a transfer since it has last advanced.
struct TransferInterruptions: Sendable {
    /// How often a transfer can be interrupted at the same place, or before it.
    private static let limit = 5
    /// How long a transfer can fail without advancing.
    private static let longest = Duration.seconds(7 * 86_400)

    private var count = 0
    private var start: Duration?
    /// The number of bytes that the best call has transferred.
    private var best: Int64 = 0
    /// Whether the call has transferred bytes.
    private var hasMoved = false

    mutating func callBegins() {
        hasMoved = false
    }

    mutating func callAdvances() {
        hasMoved = true
    }

    /// Records that a call was interrupted. Returns whether the transfer should be tried again.
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
