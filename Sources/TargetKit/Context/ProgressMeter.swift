// SPDX-License-Identifier: MIT

/// Reports the progress of a call's transfers, with their rates.
///
/// The body of a request is reported as complete only when the response begins, because until then the server may not
/// have received it.
final class ProgressMeter: Sendable {
    private struct State: Sendable {
        var upload = TransferRate()
        var download = TransferRate()
        /// The completed progress of a request body, until the response begins.
        var complete: TransferProgress?
    }

    private let report: @Sendable (TransferProgress) -> Void
    private let object: Progress?
    private let elapsed = ElapsedTime(ContinuousClock())
    private let state = Locked(State())

    /// Creates a meter for a call; returns `nil` if there is no observer.
    ///
    /// - Parameters:
    ///   - report: Receives the progress in both directions.
    ///   - object: Receives the progress of the file that the target sends or stores.
    init?(
        _ report: (@Sendable (TransferProgress) -> Void)?,
        object: Progress?,
        of target: some TargetType,
        handle: RequestHandle
    ) {
        self.object = object
        switch (report, object) {
        case (nil, nil): return nil
        case (let report?, nil): self.report = report
        case (let report, let object?):
            let direction = target.task.transferDirection
            object.control(handle)
            self.report = { progress in
                if progress.direction == direction { object.update(progress) }
                report?(progress)
            }
        }
    }

    func receive(_ progress: TransferProgress) {
        var progress = progress
        let now = elapsed.current
        let complete = state.withLock { state -> TransferProgress? in
            switch progress.direction {
            case .upload:
                progress.bytesPerSecond = state.upload.update(progress.completed, at: now)
                let isComplete = progress.completed > 0 && progress.completed == progress.total
                state.complete = isComplete ? progress : nil
                return nil
            case .download:
                progress.bytesPerSecond = state.download.update(progress.completed, at: now)
                defer { state.complete = nil }
                return state.complete
            }
        }
        if let complete { report(complete) }
        if progress.direction == .download || progress.completed == 0 || progress.completed != progress.total {
            report(progress)
        }
    }

    /// Completes the progress after a success.
    func finish() {
        responseArrived()
        object?.finish()
    }

    /// Reports the completion of the request, unless it was reported already.
    func responseArrived() {
        let complete = state.withLock { state in
            defer { state.complete = nil }
            return state.complete
        }
        if let complete { report(complete) }
    }
}

/// The smoothed rate of a transfer.
struct TransferRate: Sendable {
    /// The time constant of the smoothing, and the minimum time for measuring a rate, in seconds.
    private static let (smoothing, interval) = (3.0, 0.25)

    private var last: (time: Duration, count: Int64)?
    private var rate: Double?

    /// Returns the rate in bytes per second; `nil` at first.
    mutating func update(_ count: Int64, at time: Duration) -> Double? {
        let seconds = last.map { (time - $0.time) / .seconds(1) } ?? 0
        // Otherwise, the transfer begins or restarts.
        if let last, count >= last.count {
            guard seconds >= Self.interval else { return rate }
            let current = (Double(count) - Double(last.count)) / seconds
            let weight = 1 - exp(-seconds / Self.smoothing)
            rate = rate.map { $0 + weight * (current - $0) } ?? current
        }
        last = (time, count)
        return rate
    }
}

extension CallOptions {
    /// An object that reports the progress of the file that the call sends or stores, for example as a child of the
    /// app's own object; default `nil`.
    ///
    /// ```swift
    /// let film = Progress(totalUnitCount: 0)
    /// everything.addChild(film, withPendingUnitCount: 1)
    /// try await provider.request(.film(7), options: .setting(\.progress, film))
    /// ```
    ///
    /// Its units are bytes, and it reports the throughput and the remaining time. Cancelling it cancels the call.
    /// Pausing and resuming it pauses and resumes a resumable call of TargetKitTransfers. Use one object for each call.
    public var progress: Progress? {
        get { self[ProgressKey.self] }
        set { self[ProgressKey.self] = newValue }
    }
}

private enum ProgressKey: CallOptionKey { static let defaultValue: Progress? = nil }

extension Progress {
    /// Completes the progress, even if its total is unknown.
    fileprivate func finish() {
        let count = max(1, completedUnitCount)
        totalUnitCount = count
        completedUnitCount = count
    }

    fileprivate func control(_ handle: RequestHandle) {
        kind = .file
        isCancellable = true
        cancellationHandler = { [weak handle] in handle?.cancel() }
    }

    fileprivate func update(_ progress: TransferProgress) {
        // Foundation doesn't count 0 of 0 as complete, so an empty file would never finish.
        let isEmpty = progress.total == 0
        totalUnitCount = isEmpty ? 1 : progress.total ?? -1
        completedUnitCount = isEmpty ? 1 : progress.completed
        setUserInfoObject(progress.bytesPerSecond.flatMap { Int(exactly: $0.rounded()) }, forKey: .throughputKey)
        setUserInfoObject(progress.remainingTime.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
    }
}
