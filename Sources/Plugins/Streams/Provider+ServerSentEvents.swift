// SPDX-License-Identifier: MIT
import TargetKit

extension Provider {
    /// The server-sent events of a target (HTML standard §9.2).
    ///
    /// ```swift
    /// let events = provider.serverSentEvents(for: .prices, reconnectingAfter: .seconds(3))
    /// for try await event in events where event.event == "price" { show(event.data) }
    /// ```
    ///
    /// Each loop opens its own stream, with `Accept: text/event-stream`, when it requests the first event. Leaving the
    /// loop, or cancelling its task, ends the exchange. Status 204 ends the sequence. Any other status except 200 is an
    /// error of stage `.status`; another `Content-Type` is an error of stage `.decoding`.
    ///
    /// The stream is reopened when it ends, after a network failure, and after a temporary status: 408, 425, 429, 500,
    /// 502, 503 or 504. The delay is at least the server's `Retry-After`. It doubles with each opening without an
    /// event, up to 30 seconds, plus a random amount of up to half the delay. Other failures end the sequence.
    ///
    /// A loop belongs to the user with whose credential it was begun, as far as a plugin names the user
    /// (`RequestContext.credentialOwner`). When another user signs in, or the user signs out, it isn't reopened, but
    /// ends with an error of the kind `.unauthorized` or `.cancelled`. This also applies when an `UnauthorizedPlugin`
    /// signs the user out. The next loop belongs to the next user.
    ///
    /// A server must not be silent for longer than the transport's idle timeout, 60 seconds by default; it can send
    /// comments. The target's timeout includes the whole stream.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - delay: The time after which the stream is reopened when it ends or fails, measured by the provider's clock;
    ///     a time that the server sends overrides it. Default `nil`, which doesn't reopen it.
    ///   - minimumDelay: The minimum of this time, also for a time that the server sends; default: half a second.
    ///   - maximumReconnections: The maximum number of consecutive reconnections without an event, after which the
    ///     sequence ends or throws the last failure. Default `nil`, which means no limit.
    ///   - lastEventID: The identifier of the last event that the app received earlier, sent as `Last-Event-ID`;
    ///     default: none.
    ///   - limit: The maximum size of a line, and of an event's data, in bytes; default 8 MiB.
    ///   - options: Override the target's and the provider's options; default: none.
    public func serverSentEvents(
        for target: Target,
        reconnectingAfter delay: Duration? = nil,
        minimumDelay: Duration = .milliseconds(500),
        maximumReconnections: Int? = nil,
        lastEventID: String? = nil,
        limit: Int = 8 << 20,
        options: CallOptions = CallOptions()
    ) -> ResponseStream.Elements<ServerSentEvent> {
        ResponseStream.Elements {
            let options = options.ofOneUser
            let source = ServerSentEventSource(
                target: MultiTarget(target).target,
                delay: delay,
                minimumDelay: minimumDelay,
                maximumReconnections: maximumReconnections,
                lastEventID: lastEventID,
                limit: limit,
                pause: { try await self.pause(for: $0, before: target, options: options) },
                open: { try await self.stream(target, options: options.adding($0)) }
            )
            return ReconnectingEventReader(source)
        }
    }
}

extension Provider where Target == MultiTarget {
    /// The server-sent events of a target of any type (HTML standard §9.2).
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - delay: The time after which the stream is reopened when it ends or fails; default `nil`, which doesn't
    ///     reopen it.
    ///   - minimumDelay: The minimum of this time, also for a time that the server sends; default: half a second.
    ///   - maximumReconnections: The maximum number of consecutive reconnections without an event; default: no limit.
    ///   - lastEventID: The identifier of the last event that the app received earlier; default: none.
    ///   - limit: The maximum size of a line, and of an event's data, in bytes; default 8 MiB.
    ///   - options: Override the target's and the provider's options; default: none.
    public func serverSentEvents(
        for target: some TargetType,
        reconnectingAfter delay: Duration? = nil,
        minimumDelay: Duration = .milliseconds(500),
        maximumReconnections: Int? = nil,
        lastEventID: String? = nil,
        limit: Int = 8 << 20,
        options: CallOptions = CallOptions()
    ) -> ResponseStream.Elements<ServerSentEvent> {
        serverSentEvents(
            for: MultiTarget(target),
            reconnectingAfter: delay,
            minimumDelay: minimumDelay,
            maximumReconnections: maximumReconnections,
            lastEventID: lastEventID,
            limit: limit,
            options: options
        )
    }
}

extension CallOptions {
    /// These options with the header fields of an event stream.
    fileprivate func adding(_ fields: HTTPHeaders) -> CallOptions {
        setting(\.headers, headers.merging(fields))
    }
}
