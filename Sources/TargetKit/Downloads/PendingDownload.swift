// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a response that has not been accepted yet, in a temporary file next to its destination. The file is
/// removed when the object is deallocated.
final class PendingDownload: Sendable {
    /// The number of bytes of a rejected body that are kept in memory: 1 MiB, more than any typical error body.
    static let excerptSize = 1 << 20

    /// The temporary file.
    let part: URL
    private let file: URL
    /// The file to replace, after resolving a symbolic link at the destination.
    private let place: URL

    init(of file: URL) {
        self.file = file
        place = file.resolvingSymlinksInPath()
        part = PartialFile.hiddenPlace(beside: place)
        PartialFile.reserve(part, replacing: place)
    }

    deinit {
        unlink(part.path)
    }

    /// Checks the destination before anything is sent.
    ///
    /// - Throws: `InvalidRequest.missingFolder(path:)` or `InvalidRequest.notAFile(path:)`.
    static func check(_ file: URL) throws(InvalidRequest) {
        guard file.isFileURL else { return }
        let folder = file.deletingLastPathComponent().path
        var status = stat()
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .missingFolder(path: folder)
        }
        // A rename would replace a pipe or a device with a file.
        if stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw .notAFile(path: file.path) }
    }

    /// Moves the body to its destination if the response is an accepted success (RFC 9110 §15.3). Otherwise leaves the
    /// destination unchanged, and returns the response with the first bytes of its body in memory.
    func end(
        _ result: ExchangeResult,
        _ validation: StatusValidation
    ) throws(URLError) -> ExchangeResult {
        var result = result
        let response = result.response
        guard case .file(let received) = response.body else { return result }
        // Otherwise the empty file that holds the place would replace the user's.
        guard received == part else { throw URLError(.cannotParseResponse) }
        let status = response.head.statusCode
        if (200...299).contains(status), validation.accepts(status) {
            // Keep the permissions of the replaced file.
            var old = stat()
            if stat(place.path, &old) == 0 { chmod(part.path, old.st_mode & 0o777) }
            guard rename(part.path, place.path) == 0 else {
                let words = "\(file.path): \(String(cString: strerror(errno)))"
                throw URLError(.cannotMoveFile, userInfo: [NSLocalizedDescriptionKey: words])
            }
            result.response.body = .file(file)
        } else {
            result.response.body = .data(excerpt)
        }
        return result
    }

    /// The first bytes of the body; empty if they cannot be read.
    private var excerpt: Data {
        guard let opened = try? OpenedFile(path: part.path), let size = try? opened.size() else { return Data() }
        var data = Data(count: Int(min(size, Int64(Self.excerptSize))))
        let count = data.withUnsafeMutableBytes { buffer in try? opened.fill(buffer) }
        return data.prefix(count ?? 0)
    }
}
