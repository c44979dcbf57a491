// SPDX-License-Identifier: MIT

extension TransportRequest.Body {
    /// Returns a source of the body's bytes, for a transport that reads all bodies through a source; `nil` without a
    /// body.
    ///
    /// - Throws: A `URLError` for a file that can't be sent: `.fileDoesNotExist`, `.fileIsDirectory`,
    ///   `.noPermissionsToReadFile`, or `.cannotOpenFile`. The source and its readers also throw these errors.
    public func source() throws -> (any BodySource)? {
        switch self {
        case .none: nil
        case .data(let data): DataBodySource(data: data)
        case .file(let url): try FileBodySource(url)
        case .stream(let source): source
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
