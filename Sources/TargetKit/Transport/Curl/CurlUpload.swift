// SPDX-License-Identifier: MIT
#if os(Linux)

/// The body of a request. libcurl reads it on demand, and again from the start to resend it.
final class CurlUpload {
    private enum Source {
        /// In memory.
        case data(Data)
        /// Read in advance on another thread, for files and custom sources, which can be slow.
        case prefetched(CurlBodyPrefetcher)
    }

    /// The number of bytes; `nil` if unknown, which sends the body in chunks.
    let length: Int64?
    /// The number of bytes read so far.
    private var count: Int64 = 0
    private let source: Source
    /// The total number of bytes, after all of them are read.
    private(set) var countedLength: Int64?

    init(_ data: Data) {
        source = .data(data)
        length = Int64(data.count)
    }

    /// Creates an upload that is read on its own thread.
    init(prefetched source: any BodySource, wakeLoop: @escaping @Sendable () -> Void) {
        self.source = .prefetched(CurlBodyPrefetcher(source, wakeLoop: wakeLoop))
        length = source.length
    }

    deinit {
        if case .prefetched(let prefetcher) = source { prefetcher.close() }
    }

    /// Fills the buffer; returns 0 at the end, and `nil` if nothing is available yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        // libcurl sends all bytes that it gets. The server would read bytes beyond the declared length as the next
        // request.
        let room = length.map { min(Int64(buffer.count), $0 - count) } ?? Int64(buffer.count)
        guard room > 0 else { return 0 }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)])
        let read: Int?
        switch source {
        case .data(let data): read = data.dropFirst(Int(count)).copyBytes(to: buffer)
        case .prefetched(let prefetcher): read = try prefetcher.read(into: buffer)
        }
        guard let read else { return nil }
        if read <= 0, let length, count < length {
            throw TransportFailure(
                .requestBodyStreamExhausted,
                message: "the body ended after \(count) of \(length) bytes"
            )
        }
        let taken = max(0, min(read, buffer.count))
        count += Int64(taken)
        if taken == 0 { countedLength = count }
        return taken
    }

    /// Restarts at the first byte.
    func rewind() {
        count = 0
        countedLength = nil
        if case .prefetched(let prefetcher) = source { prefetcher.rewind() }
    }
}
#endif
