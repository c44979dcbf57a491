// SPDX-License-Identifier: MIT
import TargetKit

/// An event of an event stream, as the HTML standard defines it (§9.2.6).
public struct ServerSentEvent: Sendable, Hashable {
    /// The last identifier that the server sent, in this event or earlier; `nil` if it is missing or empty. It is sent
    /// as `Last-Event-ID` when the stream is reopened.
    public var id: String?
    /// The event's type; `message` if the server sends none.
    public var event: String
    /// The event's data; several lines are joined by LF.
    public var data: String
    /// The reconnection time, if this event sets it.
    public var retry: Duration?

    /// Creates an event.
    public init(id: String? = nil, event: String = "message", data: String, retry: Duration? = nil) {
        self.id = id
        self.event = event
        self.data = data
        self.retry = retry
    }
}

/// The meaning of a line of an event stream (HTML standard §9.2.6).
enum ServerSentEventField: Sendable, Hashable {
    /// An empty line, which ends the event.
    case end
    case data(String)
    case event(String)
    case id(String)
    case retry(Duration)
    /// A comment, an unknown field, or a field with an invalid value.
    case ignored

    /// Bytes that aren't UTF-8 become U+FFFD.
    init(_ line: UnsafeRawBufferPointer) {
        guard let start = line.baseAddress, !line.isEmpty else {
            self = .end
            return
        }
        let colon = memchr(start, 0x3A, line.count).map { UnsafeRawPointer($0) - start } ?? line.count
        var value = line[min(colon + 1, line.count)...]
        if value.first == 0x20 { value = value.dropFirst() }
        self.init(
            name: UnsafeRawBufferPointer(rebasing: line[..<colon]),
            value: UnsafeRawBufferPointer(rebasing: value)
        )
    }

    private init(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if Self.reads(name, word: "data") {
            self = .data(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, word: "event") {
            self = .event(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, word: "id") {
            self = value.contains(0) ? .ignored : .id(String(decoding: value, as: UTF8.self))
        } else if Self.reads(name, word: "retry") {
            self = Self.milliseconds(value).map { .retry(.milliseconds($0)) } ?? .ignored
        } else {
            self = .ignored
        }
    }

    private static func reads(_ name: UnsafeRawBufferPointer, word: StaticString) -> Bool {
        guard name.count == word.utf8CodeUnitCount, let start = name.baseAddress else { return false }
        return memcmp(start, word.utf8Start, name.count) == 0
    }

    /// Parses a number of milliseconds that consists only of digits. It is limited to `Int32.max`, about 24 days.
    private static func milliseconds(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard digit.isDigit else { return nil }
            number = min(number * 10 + Int64(digit - 0x30), Int64(Int32.max))
        }
        return number
    }
}

/// Reads the events of an event stream (HTML standard §9.2.5 and §9.2.6).
struct ServerSentEventReader: ElementReader {
    /// The value for `Last-Event-ID`, the identifier of the last complete block.
    private(set) var lastEventID: String?
    /// The last reconnection time that the server sent.
    private(set) var retry: Duration?

    private let stream: ResponseStream
    private let limit: Int
    private var fields: ParsedBody<ServerSentEventField>
    private var block: Block

    /// The fields since the last empty line.
    private struct Block: Sendable {
        /// The identifier, which also applies to the following events.
        var id: String?
        var event = ""
        var data: String?
        var retry: Duration?
    }

    /// - Parameters:
    ///   - limit: The maximum size of a line and of an event's data, in bytes.
    ///   - lastEventID: The last identifier of an earlier stream.
    init(_ stream: ResponseStream, limit: Int, lastEventID: String? = nil) {
        self.stream = stream
        self.limit = limit
        self.lastEventID = lastEventID
        // An event ends with an empty line, so the rest of a body belongs to none.
        fields = stream.completeLines(limit: limit) { ServerSentEventField($0) }
        block = Block(id: lastEventID)
    }

    /// Returns the next event; `nil` at the end, and after a failure.
    ///
    /// - Throws: ``TargetKitError`` of stage `.decoding` if a line or the event exceeds the limit; otherwise the failure of
    ///   the call.
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        while let field = try await fields.next(isolation: actor) {
            switch field {
            case .end: if let event = endBlock() { return event }
            case .data(let line): try append(line)
            case .event(let type): block.event = type
            case .id(let id): block.id = id.isEmpty ? nil : id
            case .retry(let time): (block.retry, retry) = (time, time)
            case .ignored: break
            }
        }
        return nil
    }

    private mutating func append(_ line: String) throws {
        let count = (block.data.map { $0.utf8.count + 1 } ?? 0) + line.utf8.count
        guard count <= limit else {
            fields.end()
            block = Block()
            throw stream.response.streamFailure(UnreadableBody.eventTooLarge(limit: limit))
        }
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
