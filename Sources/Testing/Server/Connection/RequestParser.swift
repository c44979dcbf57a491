// SPDX-License-Identifier: MIT

import TargetKit

/// Parses the bytes of a connection as requests (RFC 9112), as they arrive.
struct RequestParser {
    enum Event {
        case head(RequestHead)
        case body(Data)
        case chunkBegan
        case end(trailers: HTTPHeaders)
    }

    /// The error for bytes that aren't an HTTP/1.1 request, with the reason and the status of the response.
    struct Malformed: Error {
        let reason: String
        let status: Int
    }

    private enum State {
        case head
        case fixed(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers(HTTPHeaders)
    }

    /// The maximum size of a head in bytes. The response to a longer head has status 431.
    private static let maximumHeadSize = 1 << 20

    private var state = State.head
    private var buffer: [UInt8] = []
    private var start = 0
    /// The index before which the line or head that is incomplete doesn't end.
    private var searchedEnd = 0

    /// The number of bytes that aren't parsed yet.
    var waitingCount: Int { buffer.count - start }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            (start, searchedEnd) = (0, 0)
        }
        buffer.append(contentsOf: bytes)
    }

    /// Removes and returns the bytes that aren't parsed yet.
    mutating func takeAll() -> Data {
        defer { (buffer, start, searchedEnd) = ([], 0, 0) }
        return Data(buffer[start...])
    }

    /// The next part of a request; `nil` if more bytes are needed.
    mutating func next() throws -> Event? {
        switch state {
        case .head: return try nextHead()
        case .fixed(let left): return nextFixed(left)
        case .chunkSize: return try nextChunkSize()
        case .chunk(let left): return nextChunkData(left)
        case .chunkEnd: return try nextChunkEnd()
        case .trailers(let fields): return try nextTrailer(fields)
        }
    }

    private mutating func nextHead() throws -> Event? {
        // Empty lines before the request line are ignored (RFC 9112 §2.2).
        while waitingCount >= 2, buffer[start] == 13, buffer[start + 1] == 10 { start += 2 }
        guard let end = endOfHead() else {
            if waitingCount > Self.maximumHeadSize { throw Malformed(reason: "head too long", status: 431) }
            return nil
        }
        let head = try RequestHead(bytes: buffer[start..<end])
        start = end
        if head.isChunked {
            state = .chunkSize
        } else {
            state = .fixed(left: try head.contentLength ?? 0)
        }
        return .head(head)
    }

    private mutating func nextFixed(_ left: Int) -> Event? {
        guard left > 0 else {
            state = .head
            return .end(trailers: HTTPHeaders())
        }
        guard let data = take(upTo: left) else { return nil }
        state = .fixed(left: left - data.count)
        return .body(data)
    }

    private mutating func nextChunkSize() throws -> Event? {
        guard let line = try takeLine() else { return nil }
        let digits = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        // `Int` would accept a sign.
        guard let first = digits.first, first.isHexDigit, let size = Int(digits, radix: 16) else {
            throw Malformed(reason: "chunk size '\(line)'", status: 400)
        }
        state = size == 0 ? .trailers(HTTPHeaders()) : .chunk(left: size)
        return size == 0 ? try next() : .chunkBegan
    }

    private mutating func nextChunkData(_ left: Int) -> Event? {
        guard let data = take(upTo: left) else { return nil }
        state = data.count == left ? .chunkEnd : .chunk(left: left - data.count)
        return .body(data)
    }

    private mutating func nextChunkEnd() throws -> Event? {
        guard let line = try takeLine() else { return nil }
        guard line.isEmpty else { throw Malformed(reason: "no line end after a chunk", status: 400) }
        state = .chunkSize
        return try nextChunkSize()
    }

    private mutating func nextTrailer(_ fields: HTTPHeaders) throws -> Event? {
        var fields = fields
        while let line = try takeLine() {
            guard !line.isEmpty else {
                state = .head
                return .end(trailers: fields)
            }
            fields.fields.append(try RequestHead.field(line))
            state = .trailers(fields)
        }
        return nil
    }
}

extension RequestParser {
    private mutating func take(upTo limit: Int) -> Data? {
        let count = min(limit, waitingCount)
        guard count > 0 else { return nil }
        let data = buffer.withUnsafeBufferPointer {
            Data(buffer: UnsafeBufferPointer(rebasing: $0[start..<start + count]))
        }
        start += count
        return data
    }

    private mutating func takeLine() throws -> String? {
        guard let end = buffer[max(start, searchedEnd)...].firstIndex(of: 10) else {
            searchedEnd = buffer.count
            if waitingCount > Self.maximumHeadSize { throw Malformed(reason: "line too long", status: 400) }
            return nil
        }
        guard end > start, buffer[end - 1] == 13 else { throw Malformed(reason: "line without CR", status: 400) }
        let line = RequestHead.string(buffer[start..<end - 1])
        start = end + 1
        return line
    }

    /// The index after the first empty line.
    private mutating func endOfHead() -> Int? {
        let first = max(start + 3, searchedEnd)
        let end = buffer.withUnsafeBufferPointer { buffer -> Int? in
            var index = first
            while index < buffer.count {
                if buffer[index] == 10, buffer[index - 1] == 13, buffer[index - 2] == 10, buffer[index - 3] == 13 {
                    return index + 1
                }
                index += 1
            }
            return nil
        }
        searchedEnd = end ?? buffer.count
        return end
    }
}
