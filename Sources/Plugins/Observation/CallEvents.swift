// SPDX-License-Identifier: MIT
import TargetKit

/// Creates events from the hooks of a plugin.
package final class CallEvents: Sendable {
    /// An attempt of a call.
    private final class Attempt: Sendable {
        /// The end of an attempt.
        struct End: Sendable {
            let time: Duration
            let result: CallEvent.Reason?
            /// The reported failure.
            let failure: String?
        }

        let number: Int
        let start: Duration
        let target: TargetName
        /// The reported reason why stored bytes aren't continued.
        let dropReason: String?
        private let ending = Locked<End?>(nil)

        init(_ number: Int, start: Duration, target: TargetName, dropReason: String?) {
            self.number = number
            self.start = start
            self.target = target
            self.dropReason = dropReason
        }

        var end: End? {
            get { ending.withLock { $0 } }
            set { ending.withLock { $0 = newValue } }
        }
    }

    let redaction: Redaction
    private let elapsedTime: ElapsedTime
    private let attempt = PluginStorage<Attempt>()

    package init(redaction: Redaction, clock: any Clock<Duration>) {
        self.redaction = redaction
        elapsedTime = ElapsedTime(clock)
    }

    /// Reports that a request was prepared, after reporting a retry if it isn't the first attempt.
    package func prepared(_ request: URLRequest, context: RequestContext, report: (CallEvent) -> Void) {
        let last = context[attempt]
        if let last, last.number < context.attempt, let end = last.end {
            var retry = event(.retry, context: context, attempt: last, duration: elapsedTime.current - end.time)
            retry.result = end.result
            report(retry)
        }
        var prepared = event(.prepared, context: context, attempt: last)
        prepared.request = request
        report(prepared)
    }

    /// Reports that a request was sent.
    package func sent(_ request: URLRequest, context: RequestContext, report: (CallEvent) -> Void) {
        let last = context.attempt == 0 ? nil : context[attempt]
        let attempt = Attempt(
            context.attempt,
            start: elapsedTime.current,
            target: last?.target ?? TargetName(),
            dropReason: context.transfer?.dropReason
        )
        context[self.attempt] = attempt
        reportDrop(attempt.dropReason, context, attempt, report)
        var sent = event(.sent, context: context, attempt: attempt)
        sent.request = request
        report(sent)
    }

    /// Reports the response, whose body has arrived unless it is a stream, or the failure of the attempt.
    package func received(
        _ result: Result<Response, TargetKitError>,
        _ context: RequestContext,
        _ report: (CallEvent) -> Void
    ) {
        let now = elapsedTime.current
        let last = context[attempt]
        let (response, error) = result.parts
        if let reason = context.transfer?.dropReason, reason != last?.dropReason {
            reportDrop(reason, context, last, report)
        }
        var event = event(.head, context: context, attempt: last, duration: last.map { now - $0.start })
        if let response {
            event.isStream = response.isStream
            event.isRefused = error != nil
            // An event may be stored, and must not retain the connection.
            event.response = response.isStream ? response.head : response
            report(event)
            if !response.isStream {
                event.step = .body
                event.byteCount = response.file == nil ? Int64(response.data.count) : response.metrics?.bytesReceived
                report(event)
                event.byteCount = nil
            }
        }
        if let error {
            event.step = .failed
            event.error = error
            report(event)
        }
        last?.end = Attempt.End(
            time: now,
            result: error.map { .failure($0.kind) } ?? response.map { .status($0.statusCode) },
            failure: error?.identity
        )
    }

    /// Reports the end of the call, after reporting the end of its stream, if any.
    ///
    /// - Parameter report: Called with the event, and whether its failure was already reported for an attempt.
    package func finished(
        _ call: FinishedCall,
        context: RequestContext,
        report: (_ event: CallEvent, _ isKnown: Bool) -> Void
    ) {
        let last = context[attempt]
        let (response, error) = call.result.parts
        var event = event(.finished, context: context, attempt: last, duration: call.duration)
        event.response = response
        if response != nil, let count = call.streamedByteCount, let last, last.end?.failure == nil {
            var body = event
            body.step = .body
            body.duration = elapsedTime.current - last.start
            body.byteCount = count
            body.isStream = true
            report(body, false)
        }
        event.error = error
        event.addition = error.flatMap { $0.addition(to: last?.end?.failure) }
        report(event, error.map { $0.identity == last?.end?.failure } ?? false)
    }

    /// Reports why stored bytes aren't continued, if there is a reason.
    private func reportDrop(
        _ reason: String?,
        _ context: RequestContext,
        _ attempt: Attempt?,
        _ report: (CallEvent) -> Void
    ) {
        guard let reason else { return }
        var drop = event(.dropped, context: context, attempt: attempt)
        drop.result = .text(reason)
        report(drop)
    }

    private func event(
        _ step: CallEvent.Step,
        context: RequestContext,
        attempt: Attempt?,
        duration: Duration? = nil
    ) -> CallEvent {
        CallEvent(
            step,
            context: context,
            target: attempt?.target ?? TargetName(),
            duration: duration,
            from: self
        )
    }
}

/// The name of a call's target, computed when it is first read, because the reflection takes 2 µs.
package final class TargetName: Sendable {
    private let name = Locked<String?>(nil)

    package func name(of target: any TargetType) -> String {
        if let name = name.withLock({ $0 }) { return name }
        let found = target.name
        name.withLock { $0 = found }
        return found
    }
}

extension TargetKitError {
    /// The text that identifies the error in a log, which is its description without the target's own error and the
    /// earlier attempts.
    fileprivate var identity: String {
        var error = self
        error.appError = nil
        error.previousAttempts = []
        return error.description
    }

    /// The addition to a failure that was reported before, for example the reason why a rejected call wasn't retried.
    fileprivate func addition(to failure: String?) -> String? {
        let text = identity
        guard let failure, text.hasPrefix(failure + ": ") else { return nil }
        return String(text.dropFirst(failure.count + 2))
    }
}
