// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Reads the body of a response that refused the handshake (RFC 9112 §6.3). What exceeds a limit is left out.
struct ResponseBodyParser {
    private enum Framing {
        case length(Int)
        case chunked(ChunkState)
        case untilClose
    }

    private enum ChunkState {
        /// The line with the size of a chunk.
        case size
        case data(Int)
        /// The line break after a chunk.
        case dataEnd
        case trailers
    }

    private let limit: Int
    private var framing: Framing
    private var line: [UInt8] = []
    /// The bytes of the body that have arrived, up to the limit.
    private(set) var data = Data()
    /// Whether the body has ended. One without a length ends with the connection.
    private(set) var isComplete = false

    /// The longest line between chunks in bytes.
    private static let lineLimit = 8 << 10

    /// Creates a parser.
    ///
    /// - Parameter limit: The most bytes that it stores. Default: 64 KiB.
    init(_ head: ResponseHead, limit: Int = 64 << 10) {
        self.limit = limit
        let headers = head.headers
        let codings = headers.elements(of: .transferEncoding)
        let lengths = Set(headers.elements(of: .contentLength))
        if head.statusCode == 204 || head.statusCode == 304 {
            framing = .length(0)
        } else if let last = codings.last {
            framing = last.equalsIgnoringASCIICase("chunked") ? .chunked(.size) : .untilClose
        } else if let text = lengths.first, lengths.count == 1, text.utf8.allSatisfy(\.isDigit), let length = Int(text)
        {
            framing = .length(length)
        } else {
            framing = .untilClose
        }
        if case .length(0) = framing { isComplete = true }
    }

    /// Reads bytes; returns whether the body is complete, or so large that the connection can be closed.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var input = bytes[...]
        while !input.isEmpty, !isComplete {
            switch framing {
            case .untilClose:
                store(input)
                return data.count >= limit
            case .length(let rest):
                let piece = input.prefix(rest)
                store(piece)
                input = input.dropFirst(piece.count)
                framing = .length(rest - piece.count)
                isComplete = piece.count == rest
            case .chunked(let state):
                readChunk(state, &input)
            }
            if data.count >= limit { isComplete = true }
        }
        return isComplete
    }

    private mutating func store(_ bytes: Slice<UnsafeRawBufferPointer>) {
        data.append(contentsOf: bytes.prefix(limit - data.count))
    }

    private mutating func readChunk(_ state: ChunkState, _ input: inout Slice<UnsafeRawBufferPointer>) {
        if case .data(let rest) = state {
            let piece = input.prefix(rest)
            store(piece)
            input = input.dropFirst(piece.count)
            framing = .chunked(piece.count == rest ? .dataEnd : .data(rest - piece.count))
            return
        }
        while let byte = input.popFirst() {
            guard byte == 0x0A else {
                line.append(byte)
                // What isn't a chunked body ends here.
                if line.count > Self.lineLimit { isComplete = true }
                if isComplete { return }
                continue
            }
            finishLine(state)
            line.removeAll(keepingCapacity: true)
            return
        }
    }

    private mutating func finishLine(_ state: ChunkState) {
        let text = line.last == 0x0D ? line.dropLast() : line[...]
        switch state {
        case .size:
            let digits = String(decoding: text.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            guard let size = Int(digits.trimmingCharacters(in: .whitespaces), radix: 16), size >= 0 else {
                isComplete = true
                return
            }
            framing = .chunked(size == 0 ? .trailers : .data(size))
        case .trailers: isComplete = text.isEmpty
        default: framing = .chunked(.size)
        }
    }
}
