// SPDX-License-Identifier: MIT

extension TransportRequest.Body {
    /// Returns a source of the body's bytes, for a transport that reads all bodies through a source; `nil` without a
    /// body.
    ///
    /// - Throws: `URLError(.fileDoesNotExist)` or `URLError(.cannotOpenFile)` for a file that can't be sent. The source
    ///   and its readers also throw these errors.
    public func source() throws -> (any BodySource)? {
        switch self {
        case .none: nil
        case .data(let data): DataBodySource(data: data)
        case .file(let url): try URLErrorBodySource(url)
        case .stream(let source): source
        }
    }
}

extension FileBodySource.Failure {
    /// The failure as a transport reports it.
    var urlError: URLError {
        let code: URLError.Code = if case .missing = self { .fileDoesNotExist } else { .cannotOpenFile }
        return URLError(code, userInfo: [NSLocalizedDescriptionKey: "\(self)", NSUnderlyingErrorKey: self])
    }

    /// Runs a closure, and throws its failure as a `URLError`.
    static func asURLError<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as Self {
            throw failure.urlError
        }
    }
}

/// A file whose errors are `URLError`s.
private struct URLErrorBodySource: BodySource {
    private let file: FileBodySource
    var length: Int64? { file.length }

    init(_ url: URL) throws {
        file = try FileBodySource.Failure.asURLError { try FileBodySource(url) }
    }

    func open() throws -> any BodyReader {
        Reader(try FileBodySource.Failure.asURLError { try file.open() })
    }

    private final class Reader: BodyReader {
        private let file: any BodyReader

        init(_ file: any BodyReader) {
            self.file = file
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            try FileBodySource.Failure.asURLError { try file.read(into: buffer) }
        }
    }
}

/// Bytes in memory.
private struct DataBodySource: BodySource {
    let data: Data
    var length: Int64? { Int64(data.count) }

    func open() -> any BodyReader { Reader(data) }

    private final class Reader: BodyReader {
        private var rest: Data

        init(_ data: Data) {
            rest = data
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let count = rest.copyBytes(to: buffer)
            rest = rest.dropFirst(count)
            return count
        }
    }
}
