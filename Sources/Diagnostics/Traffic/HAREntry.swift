// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange of a call, for an HTTP Archive: a request that was sent, a redirect, or a response that a cache or a
/// stub gave without the network.
///
/// A ``HARPlugin`` reports it. Encoded, it is an entry of HAR 1.2 (`log.entries`) whose own fields begin with `_`, with
/// its secrets redacted. Encoding redacts bodies, so it takes longer than the call: leave it to a queue.
public struct HAREntry: Sendable, Encodable {
    /// What has answered a request.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// The transport: the network, or nothing if the exchange failed.
        case network
        /// A target's sample response, or a `StubTransport`.
        case stub
        /// A cache, without the server.
        case cache
        /// An exchange that calls share: the response to a call that has waited for it.
        case shared
        /// Another plugin, without the server.
        case plugin
        /// Nothing, because the request wasn't sent.
        case none
    }

    /// The identifier: that of the process, the call, the attempt and the number of the entry within the attempt, for
    /// example `1x3k9f2-12.0.1`.
    public let id: String
    /// The call; for an exchange that calls share, the exchange.
    public let call: RequestContext.ID
    /// The number of the attempt, from 0.
    public let attempt: Int
    /// The number of redirects before the request.
    public internal(set) var hop: Int
    /// When the request was ready to be sent, before plugins made it wait.
    public let startedDate: Date
    /// The time from ``startedDate`` to the end of the response; for a stream that is still open, to its head.
    public internal(set) var duration: Duration
    /// What has answered.
    public internal(set) var source: Source
    /// The kind of failure; `nil` if there is none.
    public internal(set) var failure: TargetKitError.Kind?
    /// The failure in one line without secrets; `nil` if there is none.
    public internal(set) var message: String?
    /// Whether the request belongs to the refresh of a credential.
    public let isRefresh: Bool
    /// Whether the entry replaces an earlier one with the same ``id``, because a stream has ended, or its response was
    /// rejected after it had been reported.
    public internal(set) var isUpdate = false
    /// Whether the body is a stream that hasn't ended. An update of the entry follows.
    public internal(set) var isOpen = false

    /// The time in which plugins made the request wait: for a token, the network, or a limit.
    var wait: Duration
    /// The part of the duration in which the body of a stream arrived.
    var receiving = Duration.zero
    /// The time since the last attempt ended; `nil` for the first one.
    let retryWait: Duration?
    let names: Names
    let content: HARContent
    var response: HARResponse?
    /// Whether it continues after its call, for example to update a cache.
    var isBackground = false

    /// What the entry's call belongs to.
    struct Names: Sendable {
        let provider: String?
        let scope: String
        let target: any TargetType
    }

    /// The method of the request.
    public var method: String { content.request?.httpMethod ?? "GET" }
    /// The URL of the request without secrets; empty if the request couldn't be made.
    public var url: String { content.url }
    /// The status code; `nil` if there was no response.
    public var statusCode: Int? { response?.statusCode }
}

extension HAREntry {
    /// What is known when a request starts.
    struct Start: Sendable {
        let attempt: TrafficAttempt
        let number: Int
        let hop: Int
        let time: Duration
        let wait: Duration
        let date: Date
        let context: RequestContext
    }

    /// Identifies the process, because an archive is continued by others.
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

    /// Records the failure, unless there is one that says more.
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
