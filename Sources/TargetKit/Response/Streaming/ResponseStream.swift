// SPDX-License-Identifier: MIT

/// A response whose body arrives in chunks.
///
/// ```swift
/// let stream = try await provider.stream(.export)
/// for try await line in stream.lines() { table.add(line) }
/// ```
///
/// Each chunk is requested when it is needed, so a slow reader slows down the server instead of filling the memory. The
/// body can be read only once, as chunks, ``lines(limit:)`` or ``jsonLines(of:using:limit:)``, or as the events of
/// TargetKitPlugins. If a loop ends in the middle of a chunk, the rest of that chunk is lost.
///
/// Releasing the stream and its iterators before the end of the body, or cancelling the reading task, cancels the
/// exchange.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The head as a ``Response`` without data.
    public let response: Response
    /// The body.
    public let body: ResponseBody

    init(response: Response, body: ResponseBody) {
        self.response = response
        self.body = body.refusing { response.streamFailure(UnreadableBody.alreadyRead) }
    }

    /// Creates a stream for a test.
    public init(statusCode: Int, headers: HTTPHeaders = [:], body: ResponseBody) {
        self.init(response: Response(statusCode: statusCode, headers: headers), body: body)
    }

    /// Continues where the last iteration stopped.
    ///
    /// Its `next()` throws a ``TargetKitError`` if the connection fails, the call is cancelled, or another loop reads
    /// the body.
    public func makeAsyncIterator() -> ResponseBody.Iterator {
        body.makeAsyncIterator()
    }
}

extension Response {
    /// The error for a failure to read this response's body. Invalid content has stage `.decoding`.
    package func streamFailure(_ error: any Error) -> any Error {
        guard error is UnreadableBody else { return error }
        return TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: error)
    }
}

extension ResponseStream {
    /// The lines of the body as they arrive, without line endings.
    ///
    /// LF, CR and CR LF end a line. Empty lines are included, and so is text after the last line ending. The bytes are
    /// decoded as UTF-8. Invalid bytes become U+FFFD, and a byte order mark before the first line is ignored.
    ///
    /// - Parameter limit: The maximum size of a line in bytes; default 1 MiB. A longer line ends the sequence with an
    ///   error of stage `.decoding`.
    public func lines(limit: Int = 1 << 20) -> Elements<String> {
        Elements { LineReader(body: ParsedBody(body, of: response, by: TextLineParser(limit: limit))) }
    }

    /// What a closure reads from each line that has an ending.
    package func completeLines<Element: Sendable>(
        limit: Int,
        read: @escaping @Sendable (UnsafeRawBufferPointer) -> Element?
    ) -> ParsedBody<Element> {
        ParsedBody(body, of: response, by: LineParser(limit: limit, readsRest: false, read: read))
    }
}

/// Reads lines of text. It isn't generic, because generic code looks up its types for each line.
private struct LineReader: ElementReader {
    var body: ParsedBody<String>

    mutating func nextOfChunk(on actor: (any Actor)?) throws -> String? {
        try body.nextOfChunk(on: actor)
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
        try await body.next(isolation: actor)
    }
}

/// Parses lines of text.
private struct TextLineParser: BodyParser {
    private var splitter: LineSplitter

    init(limit: Int) {
        splitter = LineSplitter(limit: limit)
    }

    mutating func append(_ piece: Data) { splitter.append(piece) }

    mutating func next() throws -> String? { try splitter.next { String(decoding: $0, as: UTF8.self) } }

    mutating func finish() throws -> String? {
        splitter.finish()
        return try next()
    }

    mutating func close() { splitter.close() }
}

/// Parses an element from each line.
struct LineParser<Element: Sendable>: BodyParser {
    private var splitter: LineSplitter
    /// Whether text after the last line ending is a line.
    private let readsRest: Bool
    private let read: @Sendable (UnsafeRawBufferPointer) throws -> Element?

    /// - Parameter read: Returns the element of a line; `nil` to ignore the line.
    init(
        limit: Int,
        readsRest: Bool = true,
        read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Element?
    ) {
        splitter = LineSplitter(limit: limit)
        self.readsRest = readsRest
        self.read = read
    }

    mutating func append(_ piece: Data) { splitter.append(piece) }

    mutating func next() throws -> Element? {
        do {
            while let element = try splitter.next(read) {
                if let element { return element }
            }
            return nil
        } catch let error where !(error is UnreadableBody) {
            throw UnreadableBody.undecodableLine(number: splitter.lineCount, error)
        }
    }

    mutating func finish() throws -> Element? {
        guard readsRest else { return nil }
        splitter.finish()
        return try next()
    }

    mutating func close() { splitter.close() }
}

/// Splits bytes that arrive in chunks into lines.
///
/// LF, CR and CR LF end a line, as in an event stream (HTML standard §9.2.5). A line is returned as soon as its end
/// arrives; an LF after a CR is skipped later. A byte order mark before the first line is ignored.
///
/// Lines are found with `memchr` and read in place; only a line that spans two chunks is copied.
struct LineSplitter: Sendable {
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    /// The number of lines so far.
    private(set) var lineCount = 0
    private let limit: Int
    private var piece = Data()
    private var position = 0
    /// The indices of the next LF and CR in the chunk, if known, so that the chunk is searched only once for each.
    private var nextLineFeed = -1
    private var nextCarriageReturn = -1
    /// The line that began in an earlier chunk.
    private var pending: [UInt8] = []
    private var skipsLineFeed = false
    private var isFinished = false

    /// - Parameter limit: The maximum size of a line in bytes, without its line ending.
    init(limit: Int) {
        self.limit = limit
    }

    /// Adds the next chunk, after ``next(_:)`` returned all lines of the previous chunk.
    mutating func append(_ piece: Data) {
        self.piece = piece
        position = 0
        nextLineFeed = -1
        nextCarriageReturn = -1
    }

    /// Marks the end of the body; the rest is the last line.
    mutating func finish() {
        isFinished = true
    }

    /// Releases all data, because there are no more lines.
    mutating func close() {
        self = LineSplitter(limit: 0)
    }

    /// Reads the next line without its line ending; `nil` if no line is complete.
    ///
    /// - Throws: `UnreadableBody.lineTooLong`, or the closure's error.
    mutating func next<Value>(_ read: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        let piece = piece
        return try piece.withUnsafeBytes { try next(in: $0, read: read) }
    }

    private mutating func next<Value>(
        in bytes: UnsafeRawBufferPointer,
        read: (UnsafeRawBufferPointer) throws -> Value
    ) throws -> Value? {
        if skipsLineFeed, position < bytes.count {
            skipsLineFeed = false
            if bytes[position] == Self.lineFeed { position += 1 }
        }
        let start = position
        let end = endOfLine(in: bytes)
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard end < bytes.count else {
            try hold(part)
            append(Data())
            return isFinished ? try last(read) : nil
        }
        position = end + 1
        skipsLineFeed = bytes[end] == Self.carriageReturn
        guard pending.isEmpty else {
            try hold(part)
            return try takePending().withUnsafeBytes { try read(counted($0)) }
        }
        try checkLength(part.count)
        return try read(counted(part))
    }

    private mutating func endOfLine(in bytes: UnsafeRawBufferPointer) -> Int {
        if nextLineFeed < position { nextLineFeed = index(of: Self.lineFeed, in: bytes) }
        if nextCarriageReturn < position { nextCarriageReturn = index(of: Self.carriageReturn, in: bytes) }
        return min(nextLineFeed, nextCarriageReturn)
    }

    /// The next index of the byte; the count if there is none.
    private func index(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int {
        guard let base = bytes.baseAddress, position < bytes.count,
            let found = memchr(base + position, Int32(byte), bytes.count - position)
        else { return bytes.count }
        return UnsafeRawPointer(found) - base
    }

    private mutating func hold(_ part: UnsafeRawBufferPointer) throws {
        try checkLength(pending.count + part.count)
        pending.append(contentsOf: part)
    }

    private func checkLength(_ count: Int) throws {
        if count > limit { throw UnreadableBody.lineTooLong(number: lineCount + 1, limit: limit) }
    }

    private mutating func takePending() -> [UInt8] {
        defer { pending = [] }
        return pending
    }

    /// The last line, without a line ending; `nil` if it is empty or only a byte order mark.
    private mutating func last<Value>(_ read: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        guard !pending.isEmpty else { return nil }
        return try takePending().withUnsafeBytes { bytes in
            let line = counted(bytes)
            return line.isEmpty ? nil : try read(line)
        }
    }

    /// The line; the first one without its byte order mark.
    private mutating func counted(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        lineCount += 1
        guard lineCount == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) else { return line }
        return UnsafeRawBufferPointer(rebasing: line[3...])
    }
}

extension ResponseStream {
    /// The values of a body with one JSON text per line (NDJSON, JSON Lines), as they arrive.
    ///
    /// Lines end like those of ``lines(limit:)``. Empty lines and lines with only spaces and tabs are ignored.
    ///
    /// - Parameters:
    ///   - type: The type to decode each line as.
    ///   - decoder: The decoder; default `nil`, which means the decoder of the target or the provider if it is a
    ///     `JSONDecoder`, or else one with default settings.
    ///   - limit: The maximum size of a line in bytes; default 1 MiB. A line that is longer or can't be decoded ends
    ///     the sequence with an error of stage `.decoding`.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type,
        using decoder: JSONDecoder? = nil,
        limit: Int = 1 << 20
    ) -> Elements<Value> {
        let decoder = response.decoder(decoder) as? JSONDecoder ?? Response.plainDecoder
        let parser = LineParser(limit: limit) { line -> Value? in
            line.allSatisfy(\.isSpaceOrTab)
                ? nil : try Response.value(Value.self, from: Data(line), atKeyPath: nil, using: decoder)
        }
        return Elements { ParsedBody(body, of: response, by: parser) }
    }
}
