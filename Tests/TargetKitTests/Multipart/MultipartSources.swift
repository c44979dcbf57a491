// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension BodySource {
    /// Everything a new reader gives, read through buffers of those sizes in turn.
    func readAll(bufferSizes: () -> Int = { 64 << 10 }) throws -> Data {
        try open().readAll(bufferSizes: bufferSizes)
    }
}

extension BodyReader {
    /// Everything that is left; an error when it is more than 256 KiB, so that a reader without an end ends the test.
    func readAll(bufferSizes: () -> Int = { 64 << 10 }) throws -> Data {
        var result = Data()
        while result.count <= 256 << 10 {
            let bytes = try readSome(bufferSizes())
            if bytes.isEmpty { return result }
            result += bytes
        }
        throw EndlessBody()
    }

    /// What one call gives for a buffer of that size.
    func readSome(_ size: Int) throws -> Data {
        var bytes = Data(count: size)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0) }
        return bytes.prefix(count)
    }
}

struct EndlessBody: Error {}

/// Bytes given in pieces of at most `step`, with a length that may be a lie.
struct SteppedSource: BodySource {
    var bytes: Data
    var step = 3
    var length: Int64?
    var failure: (any Error & Sendable)?
    /// Is returned in place of the number of bytes once all have been given.
    var lastCount = 0

    init(_ bytes: Data, length: Int64?, step: Int = 3, failure: (any Error & Sendable)? = nil, lastCount: Int = 0) {
        self.bytes = bytes
        self.length = length
        self.step = step
        self.failure = failure
        self.lastCount = lastCount
    }

    init(_ bytes: Data) {
        self.init(bytes, length: Int64(bytes.count))
    }

    func open() throws -> any BodyReader { Reader(self) }

    final class Reader: BodyReader {
        private var source: SteppedSource

        init(_ source: SteppedSource) {
            self.source = source
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let piece = Data(source.bytes.prefix(min(source.step, buffer.count)))
            if piece.isEmpty {
                if let failure = source.failure { throw failure }
                return source.lastCount
            }
            source.bytes = Data(source.bytes.dropFirst(piece.count))
            piece.copyBytes(to: buffer)
            return piece.count
        }
    }
}

/// The `MultipartError` that the closure throws; `nil` when it throws none.
func multipartError(_ body: () throws -> Void) -> MultipartError? {
    do {
        try body()
        return nil
    } catch {
        return error as? MultipartError
    }
}
