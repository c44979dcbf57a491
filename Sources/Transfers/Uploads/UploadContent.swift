// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The content of a resumable upload, which can be sent in parts.
enum UploadContent: Sendable {
    case file(URL, FileVersion)
    case data(Data)

    /// - Throws: The reason if the content can't be resumed or the file can't be read.
    init(_ content: RequestContent, data: Data?) throws {
        switch content {
        case .file, .data: break
        case .none: throw InvalidRequest.notResumable("it has no body; use a file or data")
        case .multipart: throw InvalidRequest.notResumable("forms can't be resumed; upload each file separately")
        case .encoded:
            throw InvalidRequest.notResumable(
                "a body encoded from values can't be resumed; use a file or data"
            )
        }
        if let data {
            self = .data(data)
        } else if case .file(let url) = content {
            guard let version = FileVersion(of: url) else { throw InvalidRequest.unreadableFile(path: url.path) }
            self = .file(url, version)
        } else {
            self = .data(Data())
        }
    }

    /// The number of bytes.
    var length: Int64 {
        switch self {
        case .file(_, let version): version.size
        case .data(let data): Int64(data.count)
        }
    }

    /// The path of the file, or the version of the data.
    var name: String {
        switch self {
        case .file(let url, _): "file \(url.standardizedFileURL.resolvingSymlinksInPath().path)"
        case .data: "data \(version)"
        }
    }

    /// Identifies this version of the content. Reads data in memory as a whole.
    var version: String {
        switch self {
        case .file(_, let version): version.text
        case .data(let data): Data(SHA256Hasher.digest(of: data)).base64EncodedString()
        }
    }

    /// The bytes in a range.
    func part(_ range: Range<Int64>) -> TransportRequest.Body {
        switch self {
        case _ where range.isEmpty: .none
        case .file(let url, let version): .stream(FilePartSource(file: url, version: version, range: range))
        case .data(let data): .data(Data(data.dropFirst(Int(range.lowerBound)).prefix(Int(range.byteCount))))
        }
    }
}

/// The properties that identify a version of a file.
struct FileVersion: Sendable, Hashable {
    let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64
    private let inode: UInt64
    private let device: Int64

    /// `nil` if the URL isn't that of a readable regular file.
    init?(of url: URL) {
        var status = stat()
        guard url.isFileURL, stat(url.path, &status) == 0, access(url.path, R_OK) == 0 else { return nil }
        self.init(status)
    }

    fileprivate init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init?(_ status: stat) {
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        seconds = Int64(time.tv_sec)
        nanoseconds = Int64(time.tv_nsec)
        inode = UInt64(status.st_ino)
        device = Int64(truncatingIfNeeded: status.st_dev)
    }

    var text: String { "\(size) \(seconds).\(nanoseconds) \(device):\(inode)" }
}

/// A part of a file that must not change while it is sent.
struct FilePartSource: BodySource {
    let file: URL
    let version: FileVersion
    let range: Range<Int64>
    /// Called when the last byte has been read.
    var didReadAll: (@Sendable () -> Void)?

    var length: Int64? { range.byteCount }

    func open() throws -> any BodyReader {
        let descriptor = Foundation.open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw PartialFile.failure(.cannotOpenFile, url: file) }
        let reader = Reader(descriptor, source: self)
        try reader.checkVersion()
        return reader
    }

    private final class Reader: BodyReader {
        private let descriptor: Int32
        private let source: FilePartSource
        private var position: Int64

        init(_ descriptor: Int32, source: FilePartSource) {
            self.descriptor = descriptor
            self.source = source
            position = source.range.lowerBound
        }

        deinit { close(descriptor) }

        func checkVersion() throws {
            guard FileVersion(of: descriptor) == source.version else {
                throw UploadFailure.fileChanged(path: source.file.path)
            }
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
            let end = source.range.upperBound
            guard position < end, !buffer.isEmpty else { return 0 }
            let wanted = Int(min(Int64(buffer.count), end - position))
            while true {
                let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw PartialFile.failure(.cannotOpenFile, url: source.file) }
                // The file has become shorter.
                guard count > 0 else { throw UploadFailure.fileChanged(path: source.file.path) }
                position += Int64(count)
                // Before the last bytes are sent, because the request is then complete.
                if position == end {
                    try checkVersion()
                    source.didReadAll?()
                }
                return count
            }
        }
    }
}

extension Range<Int64> {
    /// The number of bytes; `count` is an `Int`, which has 32 bits on a watch.
    var byteCount: Int64 { upperBound - lowerBound }
}
