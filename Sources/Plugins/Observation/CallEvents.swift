// SPDX-License-Identifier: MIT
import TargetKit

/// Creates events from the hooks of a plugin.
package struct CallEvents: Sendable {
    /// Receives an event, and whether its failure was already reported for an attempt.
    package typealias Report = @Sendable (_ event: CallEvent, _ isKnown: Bool) -> Void

    /// The secrets to redact. An event refers to them rather than to the function that receives it, which may store it.
    final class Secrets: Sendable {
        let redaction: Redaction

        init(_ redaction: Redaction) { self.redaction = redaction }
    }

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

    private let secrets: Secrets
    private let elapsedTime: ElapsedTime
    private let attempt = PluginStorage<Attempt>()
    private let report: Report

    /// Creates a source of events for one function. As a parameter of each hook, the code of the hook would be copied
    /// for each function.
    package init(redaction: Redaction, clock: any Clock<Duration>, report: @escaping Report) {
        secrets = Secrets(redaction)
        elapsedTime = ElapsedTime(clock)
        self.report = report
    }

    /// Reports that a request was prepared, after reporting a retry if it isn't the first attempt.
    package func prepared(_ request: URLRequest, context: RequestContext) {
        let last = context[attempt]
        if let last, last.number < context.attempt, let end = last.end {
            var retry = event(.retry, context: context, attempt: last, duration: elapsedTime.current - end.time)
            retry.result = end.result
            report(retry, false)
        }
        var prepared = event(.prepared, context: context, attempt: last)
        prepared.request = request
        report(prepared, false)
    }

    /// Reports that a request was sent.
    package func sent(_ request: URLRequest, context: RequestContext) {
        let last = context.attempt == 0 ? nil : context[attempt]
        let attempt = Attempt(
            context.attempt,
            start: elapsedTime.current,
            target: last?.target ?? TargetName(),
            dropReason: context.transfer?.dropReason
        )
        context[self.attempt] = attempt
        reportDrop(attempt.dropReason, context, attempt)
        var sent = event(.sent, context: context, attempt: attempt)
        sent.request = request
        report(sent, false)
    }

    /// Reports the response, whose body has arrived unless it is a stream, or the failure of the attempt.
    package func received(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        let now = elapsedTime.current
        let last = context[attempt]
        let (response, error) = result.parts
        if let reason = context.transfer?.dropReason, reason != last?.dropReason {
            reportDrop(reason, context, last)
        }
        var event = event(.head, context: context, attempt: last, duration: last.map { now - $0.start })
        if let response {
            event.isStream = response.isStream
            event.isRefused = error != nil
            // An event may be stored, and must not retain the connection.
            event.response = response.isStream ? response.head : response
            report(event, false)
            if !response.isStream {
                event.step = .body
                event.byteCount = response.file == nil ? Int64(response.data.count) : response.metrics?.bytesReceived
                report(event, false)
                event.byteCount = nil
            }
        }
        if let error {
            event.step = .failed
            event.error = error
            report(event, false)
        }
        last?.end = Attempt.End(
            time: now,
            result: error.map { .failure($0.kind) } ?? response.map { .status($0.statusCode) },
            failure: error?.identity
        )
    }

    /// Reports the end of the call, after reporting the end of its stream, if any.
    package func finished(_ call: FinishedCall, context: RequestContext) {
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
    private func reportDrop(_ reason: String?, _ context: RequestContext, _ attempt: Attempt?) {
        guard let reason else { return }
        var drop = event(.dropped, context: context, attempt: attempt)
        drop.result = .text(reason)
        report(drop, false)
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
            secrets: secrets
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
