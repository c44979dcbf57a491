// SPDX-License-Identifier: MIT
#if os(Linux)

/// The body of a response that doesn't switch protocols (RFC 9112 §6.3, §7.1).
struct CurlRefusalBody {
    private enum Part {
        /// The rest of the body, or of a chunk.
        case bytes(Int)
        /// All bytes until the connection is closed.
        case untilEnd
        /// The line with the size of a chunk.
        case size
        /// The line break after a chunk.
        case chunkEnd
        case trailers
        case complete
    }

    private(set) var data = Data()
    private let limit: Int
    private let isChunked: Bool
    private var part: Part
    private var line: [UInt8] = []

    /// - Parameter framing: The framing that the head declares; `nil` if the response has no body.
    init(_ framing: CurlFraming?, limit: Int) {
        self.limit = max(0, limit)
        isChunked = framing?.isChunked ?? false
        part =
            if let framing {
                if framing.isChunked {
                    .size
                } else if let length = framing.length {
                    length > 0 ? .bytes(Int(clamping: length)) : .complete
                } else {
                    .untilEnd
                }
            } else {
                .complete
            }
    }

    var isComplete: Bool {
        if case .complete = part { true } else { false }
    }

    /// Receives bytes of the body. Those that follow it are ignored.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch part {
            case .complete: return
            case .untilEnd:
                try append(rest)
                return
            case .bytes(let count):
                let taken = rest.prefix(count)
                try append(taken)
                rest = rest.dropFirst(taken.count)
                part = taken.count < count ? .bytes(count - taken.count) : isChunked ? .chunkEnd : .complete
            case .size, .chunkEnd, .trailers:
                let byte = rest.removeFirst()
                if byte != UInt8(ascii: "\n") {
                    guard line.count < 4096 else { throw .malformedChunk }
                    line.append(byte)
                } else {
                    try endLine()
                }
            }
        }
    }

    /// Notes that the connection was closed.
    mutating func finish() throws(CurlFailure) {
        if case .untilEnd = part { part = .complete }
        guard isComplete else { throw .refusalCutOff }
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws(CurlFailure) {
        guard data.count + bytes.count <= limit else { throw .overLimit(limit) }
        data.append(contentsOf: bytes)
    }

    private mutating func endLine() throws(CurlFailure) {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        switch part {
        case .size:
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
            // `Int` would accept a sign.
            guard digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw .malformedChunk }
            part = size > 0 ? .bytes(size) : .trailers
        case .chunkEnd:
            guard line.isEmpty else { throw .malformedChunk }
            part = .size
        case .trailers:
            if line.isEmpty { part = .complete }
        case .bytes, .untilEnd, .complete:
            break
        }
    }
}

extension CurlFailure {
    fileprivate static let malformedChunk = quotable(
        .cannotParseResponse,
        message: "the body of the response has an invalid chunk"
    )
    fileprivate static let refusalCutOff = Self(
        .networkConnectionLost,
        message: "the connection was closed before the response's body was complete"
    )
}
#endif
