// SPDX-License-Identifier: MIT
import TargetKit

/// One step of a call, from an `EventLogPlugin` of TargetKitDiagnostics. Every text and header field is redacted.
public struct CallEvent: Sendable {
    /// A step of a call.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        /// The request of an attempt was prepared.
        case prepared
        /// The request was sent.
        case sent
        /// The head of a response was received.
        case head
        /// The body of a response was received; for a stream, its reader reached the end.
        case body
        /// An attempt failed.
        case failed
        /// Another attempt starts. ``CallEvent/reason`` describes why.
        case retry
        /// Stored bytes of an interrupted download aren't continued. ``CallEvent/reason`` describes why.
        case dropped
        /// The call has ended.
        case finished
    }

    /// The result of an attempt that was retried.
    enum Reason: Sendable {
        case status(Int)
        case failure(TargetKitError.Kind)
        case text(String)
    }

    /// The step.
    public internal(set) var step: Step
    /// The time of the step.
    public let date: Date
    /// The time since the attempt was sent; for ``Step/retry``, since the last attempt ended; for ``Step/finished``,
    /// since the call started. `nil` for the other steps before the response.
    public internal(set) var duration: Duration?
    /// The number of bytes of the response's body, for ``Step/body``; `nil` if it is unknown.
    public internal(set) var byteCount: Int64?
    let context: RequestContext
    var request: URLRequest?
    var response: Response?
    /// Whether the response is a stream.
    var isStream = false
    /// Whether the target doesn't accept the response.
    var isRefused = false
    var error: TargetKitError?
    /// The addition to the error of the last attempt; `nil` if the errors are unrelated.
    var addition: String?
    /// The result of the last attempt, for a retry, or the reason why bytes were dropped.
    var result: Reason?
    private let source: CallEvents.Secrets
    private let targetName: TargetName

    init(
        _ step: Step,
        context: RequestContext,
        target: TargetName,
        duration: Duration?,
        secrets: CallEvents.Secrets
    ) {
        self.step = step
        date = Date()
        self.duration = duration
        self.context = context
        source = secrets
        targetName = target
    }

    /// The secrets, including those of plugins.
    var secrets: Redaction { source.redaction.adding(context.secretHeaders) }
}

extension CallEvent {
    /// The identifier of the call, or of a shared exchange.
    public var call: RequestContext.ID { context.id }
    /// The number of the attempt, from 0.
    public var attempt: Int { context.attempt }
    /// The name of the target, which is its type and case without associated values.
    public var target: String { targetName.name(of: context.target) }
    /// The method of the request, for ``Step/prepared`` and ``Step/sent``; otherwise `nil`.
    public var method: String? { request.map { $0.httpMethod ?? "GET" } }
    /// The URL of the request without secrets, for ``Step/prepared`` and ``Step/sent``; otherwise `nil`.
    public var url: String? { request?.url.map { source.redaction.url($0.absoluteString).inOneLine } }
    /// The status code of the response; `nil` if there is none.
    public var statusCode: Int? { (response ?? error?.response)?.statusCode }

    /// The header fields of the request or response, without secrets; empty if there is neither.
    public var headers: HTTPHeaders {
        let redaction = secrets
        let fields = request.map { HTTPHeaders($0.allHTTPHeaderFields ?? [:]) } ?? response?.headers
        return HTTPHeaders(
            (fields ?? [:]).map { field in
                let value = redaction.header(FieldOctets.latin1(field.value), name: field.name.rawValue).inOneLine
                return HTTPHeaders.Field(name: field.name, value: value)
            }
        )
    }

    /// The kind of failure, for ``Step/failed`` and for ``Step/finished`` of a failed call; otherwise `nil`.
    public var failure: TargetKitError.Kind? { error?.kind }
    /// The failure in one line; `nil` if there is none.
    public var message: String? { error?.description }

    /// The reason for the retry, for ``Step/retry``, which is the kind of failure or the status code of the last
    /// attempt; the reason why stored bytes aren't continued, for ``Step/dropped``; otherwise `nil`.
    public var reason: String? {
        switch result {
        case .status(let status): "status \(status)"
        case .failure(let kind): "\(kind)"
        case .text(let text): text
        case nil: nil
        }
    }
}

extension CallEvent: Encodable {
    private enum Key: String, CodingKey {
        case time, call, attempt, step, target, method, url, status, bytes, milliseconds, reason, failure, message
    }

    /// Encodes the event without header fields. `time` is in UTC (RFC 3339); properties that are `nil` are omitted.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.timestamp(date), forKey: .time)
        try values.encode(call.description, forKey: .call)
        try values.encode(attempt, forKey: .attempt)
        try values.encode(step.rawValue, forKey: .step)
        try values.encode(target, forKey: .target)
        try values.encodeIfPresent(method, forKey: .method)
        try values.encodeIfPresent(url, forKey: .url)
        try values.encodeIfPresent(statusCode, forKey: .status)
        try values.encodeIfPresent(byteCount, forKey: .bytes)
        try values.encodeIfPresent(duration.map(Self.milliseconds), forKey: .milliseconds)
        try values.encodeIfPresent(reason, forKey: .reason)
        try values.encodeIfPresent(failure.map { "\($0)" }, forKey: .failure)
        try values.encodeIfPresent(message, forKey: .message)
    }

    private static func timestamp(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return (Double(seconds) * 1e6 + (Double(attoseconds) / 1e12).rounded()) / 1e3
    }
}

extension CallEvent: RedactedDescription {
    /// The event in one line, without secrets.
    package var redactedDescription: String {
        let parts: [String?] = [
            "[\(call).\(attempt)] \(step.rawValue) \(target)", method, url, statusCode.map { "\($0)" },
            byteCount.map { "\($0) bytes" }, duration.map { "\(Self.milliseconds($0)) ms" }, reason, message,
        ]
        return parts.compactMap { $0 }.joined(separator: ", ").inOneLine
    }
}
