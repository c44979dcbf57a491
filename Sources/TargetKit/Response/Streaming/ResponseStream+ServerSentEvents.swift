// SPDX-License-Identifier: MIT

import Foundation

extension ResponseStream {
    /// The body's events, each of up to 8 MiB; as ``serverSentEvents(limit:)`` has them.
    public var serverSentEvents: ServerSentEvents { serverSentEvents(limit: 8 << 20) }

    /// The events of a body that is an event stream, as they come, by the rules of the HTML standard (§9.2.5 and
    /// §9.2.6).
    ///
    /// An event is given when the empty line after it has come; what the body ends with before one is no event. The
    /// bytes are read as UTF-8, whatever `Content-Type` says: what is not becomes U+FFFD. Neither the status code nor
    /// `Content-Type` is looked at here; `Provider.serverSentEvents(for:)` does, and opens the stream again when it
    /// ends.
    ///
    /// - Parameter limit: How many bytes a line, and an event's data, may have, so that an event without an end cannot
    ///   fill the memory; a larger one ends the sequence with ``ResponseStreamError``.
    public func serverSentEvents(limit: Int) -> ServerSentEvents {
        ServerSentEvents(response: response, body: body, limit: limit)
    }

    /// The events of a ``ResponseStream``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        let response: Response
        let body: ResponseBody
        let limit: Int

        /// Reads the events; those that another iterator has taken are gone.
        public func makeAsyncIterator() -> Iterator {
            makeAsyncIterator(lastEventID: nil)
        }

        /// Reads the events of a stream that goes on after another one.
        func makeAsyncIterator(lastEventID: String?) -> Iterator {
            let parser = ServerSentEventParser(limit: limit, lastEventID: lastEventID)
            return Iterator(body: ParsedBody(body, of: response, by: parser))
        }
    }
}

extension ResponseStream.ServerSentEvents {
    /// Reads ``ResponseStream/ServerSentEvents``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var body: ParsedBody<ServerSentEventParser>
        var parser: ServerSentEventParser { body.parser }

        /// The next event; `nil` at the end, and after a failure.
        ///
        /// - Throws: ``TargetKitError``; of stage `.decoding` when an event is over the limit, and as the call's
        ///   failures are when the body breaks off.
        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: nil)
        }

        /// The same on the caller's actor, so that only a piece that has yet to come costs a change of threads.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            try await body.next(isolation: actor)
        }
    }
}
