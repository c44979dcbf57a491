// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// The body of a request. libcurl reads it on demand, and again from the start to resend it.
final class CurlUpload {
    private enum Source {
        /// Read on the loop's thread; for bodies in memory.
        case direct(any BodySource, any BodyReader)
        /// Read in advance on another thread; for files and custom sources, which can be slow.
        case prefetched(CurlBodyPrefetcher)
    }

    /// The number of bytes; `nil` when unknown, and the body is sent in chunks.
    let length: Int64?
    /// The number of bytes that have been read.
    private(set) var count: Int64 = 0
    private var source: Source
    /// The total number of bytes, once all of them have been read.
    private(set) var countedLength: Int64?

    /// Whether all bytes have been read.
    var isAtEnd: Bool { countedLength != nil || count == length }

    /// Creates an upload that is read on the loop's thread.
    init(direct source: any BodySource) throws {
        self.source = .direct(source, try source.open())
        length = source.length
    }

    /// Creates an upload that is read on its own thread.
    init(prefetched source: any BodySource, wakeLoop: @escaping @Sendable () -> Void) {
        self.source = .prefetched(CurlBodyPrefetcher(source, wakeLoop: wakeLoop))
        length = source.length
    }

    deinit {
        if case .prefetched(let prefetcher) = source { prefetcher.close() }
    }

    /// Fills the buffer; returns 0 at the end, and `nil` when there is nothing yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        // libcurl sends all bytes that it gets; more than declared would be read as the next request.
        let room = length.map { min(Int64(buffer.count), $0 - count) } ?? Int64(buffer.count)
        guard room > 0 else { return 0 }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)])
        let read: Int?
        switch source {
        case .direct(_, let reader): read = try reader.read(into: buffer)
        case .prefetched(let prefetcher): read = try prefetcher.read(into: buffer)
        }
        guard let read else { return nil }
        if read <= 0, let length, count < length {
            throw CurlFailure(.requestBodyStreamExhausted, "the body ended after \(count) of \(length) bytes")
        }
        let taken = max(0, min(read, buffer.count))
        count += Int64(taken)
        if taken == 0 { countedLength = count }
        return taken
    }

    /// Restarts at the first byte.
    func rewind() throws {
        count = 0
        countedLength = nil
        switch source {
        case .direct(let body, _): source = .direct(body, try body.open())
        case .prefetched(let prefetcher): prefetcher.rewind()
        }
    }
}

/// A body that is in memory.
struct CurlDataBody: BodySource {
    let data: Data

    var length: Int64? { Int64(data.count) }

    func open() -> any BodyReader { Reader(rest: data[...]) }

    private final class Reader: BodyReader {
        var rest: Data

        init(rest: Data) { self.rest = rest }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = rest.copyBytes(to: buffer)
            rest = rest.dropFirst(count)
            return count
        }
    }
}

/// The body in a regular file.
struct CurlFileBody: BodySource {
    let url: URL
    let length: Int64?

    init(_ url: URL) throws(CurlFailure) {
        self.url = url
        var status = stat()
        guard url.isFileURL, stat(url.path, &status) == 0 else {
            throw CurlFailure(.fileDoesNotExist, "the file \(url.path) does not exist")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw CurlFailure(.fileIsDirectory, "\(url.path) is a directory")
        default:
            throw CurlFailure(
                .cannotOpenFile,
                "\(url.path) is not a regular file; use a BodySource for a pipe or a device"
            )
        }
        guard access(url.path, R_OK) == 0 else { throw Self.failure(.noPermissionsToReadFile, url.path) }
        length = Int64(status.st_size)
    }

    func open() throws -> any BodyReader {
        // If a pipe has replaced the file, opening it without `O_NONBLOCK` would wait for a writer.
        let descriptor = Foundation.open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(.noPermissionsToReadFile, url.path) }
        return Reader(descriptor: descriptor, path: url.path)
    }

    private static func failure(_ code: URLError.Code, _ path: String) -> CurlFailure {
        CurlFailure(code, "\(path): \(String(cString: strerror(errno)))")
    }

    private final class Reader: BodyReader {
        let descriptor: Int32
        let path: String

        init(descriptor: Int32, path: String) {
            self.descriptor = descriptor
            self.path = path
        }

        deinit { close(descriptor) }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            while true {
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                if errno != EINTR { throw CurlFileBody.failure(.cannotOpenFile, path) }
            }
        }
    }
}
#endif
