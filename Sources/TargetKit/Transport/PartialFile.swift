// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A new file under a name of its own, that goes with its last reference unless it has been moved to its place: so nobody
/// ever sees half of it.
final class PartialFile: Sendable {
    /// What the system refused.
    struct Failure: Error {
        var code: URLError.Code
        var message: String
    }

    let url: URL
    private let descriptor: Int32

    /// A file beside the one that it will replace, so that moving it is one step.
    convenience init(replacing url: URL) throws(Failure) {
        guard url.isFileURL else {
            throw Failure(code: .cannotCreateFile, message: "\(url.scheme ?? "") is not the scheme of a file URL")
        }
        try self.init(in: url.deletingLastPathComponent(), prefix: ".\(url.lastPathComponent.prefix(40))", mode: 0o666)
    }

    /// A file in the system's folder for temporary ones, that only this user can read.
    convenience init() throws(Failure) {
        try self.init(in: FileManager.default.temporaryDirectory, prefix: "targetkit", mode: 0o600)
    }

    private init(in folder: URL, prefix: String, mode: mode_t) throws(Failure) {
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        url = folder.appendingPathComponent("\(prefix).\(number).part")
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Self.failure(.cannotCreateFile, url) }
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            // After a move there is nothing of that name.
            unlink(url.path)
        }
    }

    /// Adds bytes at the end.
    func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.failure(.cannotWriteToFile, url)
            }
            rest = rest.dropFirst(written)
        }
    }

    /// Adds bytes at the end.
    func append(_ bytes: Data) throws(Failure) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try append(bytes) }
        }
        try result.get()
    }

    /// Puts the file in its place, over what is there.
    func move(to place: URL) throws(Failure) {
        guard rename(url.path, place.path) == 0 else { throw Self.failure(.cannotMoveFile, place) }
    }

    private static func failure(_ code: URLError.Code, _ url: URL) -> Failure {
        Failure(code: code, message: "\(url.path): \(String(cString: strerror(errno)))")
    }
}
