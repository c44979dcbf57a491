// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import Foundation

/// A file that is written beside the one it replaces, so that nobody ever sees half of it.
///
/// Made when the first byte comes; removed when it goes away unfinished.
final class CurlFile {
    private let url: URL
    private var temporaryPath: String?
    private var descriptor: Int32 = -1

    init(replacing url: URL) {
        self.url = url
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if let temporaryPath { unlink(temporaryPath) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) {
        try open()
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Foundation.write(
                descriptor,
                UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                rest.count
            )
            if written < 0 {
                if errno == EINTR { continue }
                throw CurlFailure(.cannotWriteToFile, "\(url.path): \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(written)
        }
    }

    /// Puts the file in its place, and returns that place.
    func finish() throws(CurlFailure) -> URL {
        try open()
        let closed = close(descriptor)
        descriptor = -1
        guard closed == 0, let temporaryPath, rename(temporaryPath, url.path) == 0 else {
            throw CurlFailure(.cannotMoveFile, "\(url.path): \(String(cString: strerror(errno)))")
        }
        self.temporaryPath = nil
        return url
    }

    private func open() throws(CurlFailure) {
        guard descriptor < 0 else { return }
        guard url.isFileURL else { throw CurlFailure(.cannotCreateFile, "\(url) is not a file URL") }
        let name =
            ".\(url.lastPathComponent.prefix(40)).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let path = url.deletingLastPathComponent().appendingPathComponent(name).path
        descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw CurlFailure(.cannotCreateFile, "\(url.path): \(String(cString: strerror(errno)))")
        }
        temporaryPath = path
    }
}
#endif
