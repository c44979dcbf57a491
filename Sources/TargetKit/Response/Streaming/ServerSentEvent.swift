// SPDX-License-Identifier: MIT

/// An event of an event stream, as the HTML standard defines it (§9.2.6).
public struct ServerSentEvent: Sendable, Hashable {
    /// The last identifier that the server has given, in this event or in an earlier one; `nil` when there was none, or
    /// it was taken back by an empty one. It is what `Last-Event-ID` says when the stream is opened again.
    public var id: String?
    /// The event's type; `message` when the server names none.
    public var event: String
    /// The event's data; several lines are joined by LF.
    public var data: String
    /// How long to wait before the stream is opened again, when this event says so, else `nil`: milliseconds on the
    /// wire.
    public var retry: Duration?

    /// An event.
    public init(id: String? = nil, event: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}
