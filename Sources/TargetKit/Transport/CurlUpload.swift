// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// The body of a request, read piece by piece as libcurl asks for it, and from its start again where libcurl has to.
final class CurlUpload {
    private enum Source {
        /// Memory and files are read on the spot.
        case direct(any BodySource, any BodyReader)
        /// What somebody else gives may take its time.
        case pumped(CurlBodyPump)
    }

    /// The number of bytes; `nil`: the body is sent in chunks.
    let length: Int64?
    /// How many bytes have been read.
    private(set) var count: Int64 = 0
    private var isExhausted = false
    private var source: Source

    /// Whether there are no more to read.
    var isAtEnd: Bool { isExhausted || count == length }

    /// A body that is read on the loop's thread.
    init(direct source: any BodySource) throws {
        self.source = .direct(source, try source.open())
        length = source.length
    }

    /// A body that is read on a thread of its own.
    init(pumped source: any BodySource, wakeLoop: @escaping @Sendable () -> Void) {
        self.source = .pumped(CurlBodyPump(source, wakeLoop: wakeLoop))
        length = source.length
    }

    deinit {
        if case .pumped(let pump) = source { pump.close() }
    }

    /// Fills the buffer; returns 0 at the end, and `nil` when there is nothing yet.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        // libcurl sends whatever it gets: more than was announced would be read as the next request.
        let room = length.map { min(Int64(buffer.count), $0 - count) } ?? Int64(buffer.count)
        guard room > 0 else { return 0 }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)])
        let read: Int?
        switch source {
        case .direct(_, let reader): read = try reader.read(into: buffer)
        case .pumped(let pump): read = try pump.read(into: buffer)
        }
        guard let read else { return nil }
        if read <= 0, let length, count < length {
            throw CurlFailure(.requestBodyStreamExhausted, "the body ended after \(count) of \(length) bytes")
        }
        let taken = max(0, min(read, buffer.count))
        count += Int64(taken)
        isExhausted = taken == 0
        return taken
    }

    /// Goes back to the first byte.
    func rewind() throws {
        count = 0
        isExhausted = false
        switch source {
        case .direct(let body, _): source = .direct(body, try body.open())
        case .pumped(let pump): pump.rewind()
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

/// A body that is in a file.
struct CurlFileBody: BodySource {
    let url: URL
    let length: Int64?

    init(_ url: URL) throws(CurlFailure) {
        self.url = url
        var status = stat()
        guard url.isFileURL, stat(url.path, &status) == 0 else {
            throw CurlFailure(.fileDoesNotExist, "there is no file \(url.path)")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw CurlFailure(.fileIsDirectory, "\(url.path) is a directory")
        }
        // Only a regular file knows its size; a pipe does not.
        length = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    func open() throws -> any BodyReader {
        let descriptor = Foundation.open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CurlFailure(.noPermissionsToReadFile, "\(url.path): \(String(cString: strerror(errno)))")
        }
        return Reader(descriptor: descriptor, path: url.path)
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
                if errno != EINTR {
                    throw CurlFailure(.cannotOpenFile, "\(path): \(String(cString: strerror(errno)))")
                }
            }
        }
    }
}
#endif
