// SPDX-License-Identifier: MIT
import Foundation

/// Makes events of the bytes of an event stream, by the rules of the HTML standard (§9.2.5 and §9.2.6).
struct ServerSentEventParser: PieceParser {
    /// The identifier that `Last-Event-ID` has to say: that of the last block that ended with an empty line.
    private(set) var lastEventID: String?
    /// The last waiting time that the server has named.
    private(set) var retry: Duration?

    private let limit: Int
    private var lines: LineSplitter
    private var block: Block

    /// What the lines since the last empty one have said.
    private struct Block: Sendable {
        /// An identifier stays for the events that follow.
        var id: String?
        var event = ""
        var data: String?
        var retry: Duration?
    }

    /// - Parameters:
    ///   - limit: How many bytes a line, and an event's data, may have.
    ///   - lastEventID: The identifier that an earlier stream has ended with.
    init(limit: Int, lastEventID: String? = nil) {
        self.limit = limit
        self.lastEventID = lastEventID
        lines = LineSplitter(limit: limit)
        block = Block(id: lastEventID)
    }

    /// Takes the next piece, once ``next()`` has no more events of the last one.
    mutating func append(_ piece: Data) {
        lines.append(piece)
    }

    /// Lets go of everything but what a next stream has to know: there are no more events.
    mutating func close() {
        lines.close()
        block = Block()
    }

    /// The next event; `nil` when there is no whole one.
    ///
    /// - Throws: ``ResponseStreamError`` when a line or the event is over the limit.
    mutating func next() throws -> ServerSentEvent? {
        while let field = try lines.next(ServerSentEventField.init) {
            if let event = try take(field) { return event }
        }
        return nil
    }

    /// What follows the last empty line is never an event.
    mutating func finish() -> ServerSentEvent? { nil }

    private mutating func take(_ field: ServerSentEventField) throws -> ServerSentEvent? {
        switch field {
        case .end: return endBlock()
        case .data(let line): try append(line)
        case .event(let type): block.event = type
        case .id(let id): block.id = id.isEmpty ? nil : id
        case .retry(let time):
            block.retry = time
            retry = time
        case .ignored: break
        }
        return nil
    }

    private mutating func append(_ line: String) throws {
        let count = (block.data.map { $0.utf8.count + 1 } ?? 0) + line.utf8.count
        guard count <= limit else { throw ResponseStreamError.eventTooLarge(limit: limit) }
        guard block.data != nil else { return block.data = line }
        block.data?.append("\n")
        block.data?.append(line)
    }

    private mutating func endBlock() -> ServerSentEvent? {
        lastEventID = block.id
        defer { block = Block(id: lastEventID) }
        guard let data = block.data else { return nil }
        let type = block.event.isEmpty ? "message" : block.event
        return ServerSentEvent(id: lastEventID, event: type, data: data, retry: block.retry)
    }
}
