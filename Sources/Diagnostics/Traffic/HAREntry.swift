// SPDX-License-Identifier: MIT
import TargetKit

/// One exchange of a call in an HTTP Archive: a request that was sent, a redirect, or a response of a cache or a stub.
///
/// A ``HARPlugin`` creates entries. An encoded entry is an element of `log.entries` (HAR 1.2), with secrets redacted,
/// and with additional fields that begin with `_`. Because encoding redacts bodies, it is slow, so encode entries on a
/// queue.
public struct HAREntry: Sendable, Encodable {
    /// The source of a response.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// The transport, or nothing if its exchange failed.
        case network
        /// A target's sample response, or a `StubTransport`.
        case stub
        /// A cache, without the server.
        case cache
        /// A shared exchange, for whose response the call waited.
        case shared
        /// Another plugin, without the server.
        case plugin
        /// Nothing, because the request wasn't sent.
        case none
    }

    /// The identifier, which consists of the identifier of the process and the numbers of the call, the attempt, and
    /// the entry within the attempt, for example `1x3k9f2-12.0.1`.
    public let id: String
    /// The identifier of the call, or of a shared exchange.
    public let call: RequestContext.ID
    /// The number of the attempt, from 0.
    public let attempt: Int
    /// The number of redirects before the request.
    public internal(set) var hop: Int
    /// The time when the request was ready to be sent, before plugins delayed it.
    public let startedDate: Date
    /// The time from ``startedDate`` to the end of the response, or to the head of an open stream.
    public internal(set) var duration: Duration
    /// The source of the response.
    public internal(set) var source: Source
    /// The kind of failure; `nil` if there is none.
    public internal(set) var failure: TargetKitError.Kind?
    /// The description of the failure in one line, without secrets; `nil` if there is none.
    public internal(set) var message: String?
    /// Whether the request belongs to the refresh of a credential.
    public let isRefresh: Bool
    /// Whether the entry replaces an earlier one with the same ``id``, because a stream ended, or the response was
    /// rejected after it was reported.
    public internal(set) var isUpdate = false
    /// Whether the body is a stream that hasn't ended. An update of the entry follows.
    public internal(set) var isOpen = false

    /// The time for which plugins delayed the request, for example to wait for a token, the network, or a limit.
    var wait: Duration
    /// The part of the duration during which the body of a stream arrived.
    var receiving = Duration.zero
    /// The time since the last attempt ended; `nil` for the first one.
    let retryWait: Duration?
    let names: Names
    let content: HARContent
    var response: HARResponse?
    /// Whether the exchange continues after its call, for example to update a cache.
    var isBackground = false

    /// The names of the entry's target, provider and scope.
    struct Names: Sendable {
        let provider: String?
        let scope: String
        let target: any TargetType
    }

    /// The method of the request.
    public var method: String { content.request?.httpMethod ?? "GET" }
    /// The URL of the request without secrets; empty if the request couldn't be created.
    public var url: String { content.url }
    /// The status code; `nil` if there was no response.
    public var statusCode: Int? { response?.statusCode }
}

extension HAREntry {
    /// The values that are known when a request starts.
    struct Start: Sendable {
        let attempt: TrafficAttempt
        let number: Int
        let hop: Int
        let time: Duration
        let wait: Duration
        let date: Date
        let context: RequestContext
    }

    /// Identifies the process, because other processes can continue an archive.
    private static let process = String(UInt32.random(in: .min ... .max), radix: 36)

    init(_ start: Start, source: Source, duration: Duration, names: Names, content: HARContent) {
        id = "\(Self.process)-\(start.context.id).\(start.attempt.number).\(start.number)"
        call = start.context.id
        attempt = start.attempt.number
        hop = start.hop
        startedDate = start.date
        self.duration = duration
        self.source = source
        isRefresh = start.attempt.isRefresh
        wait = start.wait
        retryWait = start.number == 0 ? start.attempt.retryWait : nil
        self.names = names
        self.content = content
    }

    /// Records the failure, unless a more specific one is known.
    mutating func fail(_ error: TargetKitError) {
        failure = error.kind
        message = error.description.inOneLine
    }

    /// Whether the response leads to another request.
    var isRedirect: Bool {
        guard let response, [301, 302, 303, 307, 308].contains(response.statusCode) else { return false }
        return response.headers[.location] != nil
    }
}

extension HAREntry: RedactedDescription {
    /// The entry in one line, without secrets.
    package var redactedDescription: String {
        let outcome = statusCode.map { "\($0)" } ?? failure.map { "\($0)" } ?? "no response"
        return "[\(id)] \(method) \(url), \(outcome), \(source.rawValue)".inOneLine
    }
}
