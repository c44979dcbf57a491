// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

extension DownloadDestination {
    /// Returns this destination for a file whose SHA-256 is verified. A file with another digest is removed, and the
    /// call fails with `URLError(.badServerResponse)`.
    ///
    /// The digest is the given one, and that of the response's `Repr-Digest` and `Content-Digest` (RFC 9530), which
    /// ``resumable`` downloads verify, too. These fields aren't compared with a body that has a content coding, because
    /// they describe the coded bytes.
    ///
    /// - Parameter digest: 64 hexadecimal digits; `nil` (default) to verify the response's fields only. Any other text
    ///   fails the call without sending a request.
    public func checksum(sha256 digest: String? = nil) -> DownloadDestination {
        var destination = self
        destination.fileCheck = DownloadChecksum(sha256: digest)
        return destination
    }
}

/// Compares the SHA-256 of a file with what the caller and the fields of the response say.
struct DownloadChecksum: DownloadedFileCheck {
    /// The expected SHA-256, as given by the caller.
    let sha256: String?

    func check() throws {
        guard let sha256, sha256.utf8.count != 64 || !sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return }
        throw InvalidRequest.invalidChecksum(sha256)
    }

    func check(_ file: DownloadedFile, isCancelled: () -> Bool) throws {
        let isUncoded = file.headers.isUncoded
        // If the target requested a part, Repr-Digest describes the whole file.
        let isWhole = isUncoded && file.head.statusCode != 206
        let whole = isWhole ? file.headers[.reprDigest].flatMap(DigestFields.sha256) : nil
        let content = isUncoded ? file.headers[.contentDigest].flatMap(DigestFields.sha256) : nil
        let start = file.contentStart
        if sha256 != nil || whole != nil || content != nil && start == 0 {
            let found = try digest(of: file.part, from: 0, isCancelled: isCancelled)
            let digits = found.hexadecimal
            if let sha256, digits != sha256.lowercased() {
                throw Self.failure("the SHA-256 of the file is \(digits), expected \(sha256)")
            }
            if let whole, !whole.elementsEqual(found) {
                throw Self.failure("the file doesn't match the response's Repr-Digest")
            }
            if let content, start == 0, !content.elementsEqual(found) {
                throw Self.failure("the file doesn't match the response's Content-Digest")
            }
        }
        if let content, start > 0,
            try !content.elementsEqual(digest(of: file.part, from: start, isCancelled: isCancelled))
        {
            throw Self.failure("the rest of the file doesn't match the response's Content-Digest")
        }
    }

    private func digest(of part: URL, from start: Int64, isCancelled: () -> Bool) throws -> [UInt8] {
        let descriptor = open(part.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PartialFile.failure(.cannotOpenFile, url: part) }
        defer { close(descriptor) }
        var hasher = SHA256Hasher()
        let isRead = try PartialFile.read(descriptor, from: start) { piece in
            if isCancelled() { throw CancellationError() }
            hasher.update(piece)
        }
        guard isRead else { throw PartialFile.failure(.cannotOpenFile, url: part) }
        return hasher.finalize()
    }

    private static func failure(_ words: String) -> URLError { URLError(.badServerResponse, message: words) }
}
