// SPDX-License-Identifier: MIT

/// What becomes of an event stream that ends or breaks off.
public struct ServerSentEventReconnection: Sendable, Hashable {
    /// How long to wait, unless the server has named a time; `nil`: the stream is not opened again.
    let delay: Duration?
    /// How many times in a row, without an event in between.
    let limit: Int?

    /// The sequence of events ends with the stream.
    public static let never = Self(delay: nil, limit: nil)

    /// The stream is opened again, when it has ended as well as when it broke off or could not be opened.
    ///
    /// - Parameters:
    ///   - delay: How long to wait before; default 3 seconds. A time that the server names in `retry` takes its place.
    ///   - limit: How many times in a row it is opened again without an event having come; then the sequence ends, or
    ///     throws the last failure. Default `nil`: as long as somebody reads.
    public static func always(after delay: Duration = .seconds(3), limit: Int? = nil) -> Self {
        Self(delay: delay, limit: limit)
    }
}
