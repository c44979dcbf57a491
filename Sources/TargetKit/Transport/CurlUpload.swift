// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import Foundation

/// The body of a request, read piece by piece as libcurl asks for it, and from its start again where libcurl has to.
final class CurlUpload {
    /// The number of bytes; `nil`: the body is sent in chunks.
    let length: Int64?
    private let source: any BodySource
    private var reader: any BodyReader
    private var count: Int64 = 0

    init(_ source: any BodySource) throws {
        self.source = source
        reader = try source.open()
        length = source.length
    }

    /// Fills the buffer; returns 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        // libcurl sends whatever it gets: more than was announced would be read as the next request.
        let room = length.map { min(Int64(buffer.count), $0 - count) } ?? Int64(buffer.count)
        guard room > 0 else { return 0 }
        let read = try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)]))
        if read <= 0, let length, count < length {
            throw CurlFailure(.requestBodyStreamExhausted, "the body ended after \(count) of \(length) bytes")
        }
        let taken = max(0, min(read, Int(room)))
        count += Int64(taken)
        return taken
    }

    /// Goes back to the first byte.
    func rewind() throws {
        reader = try source.open()
        count = 0
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
