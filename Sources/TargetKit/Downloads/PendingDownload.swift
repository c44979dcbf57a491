// SPDX-License-Identifier: MIT

/// The body of a response that isn't accepted yet, in a hidden file beside its destination. Only this user can read it,
/// and it is removed when the object is deallocated.
package final class PendingDownload: Sendable {
    private let destination: DownloadDestination
    private let file: PartialFile

    /// The hidden file.
    var part: URL { file.url }

    /// - Throws: A `URLError` if the file can't be created.
    init(to destination: DownloadDestination) throws {
        self.destination = destination
        file = try PartialFile(beside: DownloadPlace(destination).partNeighbor)
        FileProtection.allowAccessWhileLocked(file.url)
    }

    /// Moves the body to its destination if the response is an accepted success (RFC 9110 §15.3). Otherwise leaves the
    /// destination unchanged, and returns the response with the first bytes of its body in memory.
    ///
    /// - Throws: The failure that the server reports in the body instead of the file, among others.
    func end(
        _ result: ExchangeResult,
        validation: StatusValidation,
        of call: Call
    ) async throws -> ExchangeResult {
        var result = result
        let response = result.response
        guard case .file(let received) = response.body else { return result }
        // Otherwise, the empty placeholder would replace the user's file.
        guard received == part else { throw URLError(.cannotParseResponse) }
        guard validation.acceptsFile(response.head.statusCode) else {
            result.response.body = .data(excerpt)
            return result
        }
        // Another program may have removed the file, or put a link in its place.
        guard let status = FileStatus(of: part, followsLinks: false), status.isRegular, status.isOwn else {
            throw PartialFile.failure(.cannotMoveFile, url: part)
        }
        try result.checkRange(byteCount: status.size)
        if let failure = call.reportedFailure(in: result, byteCount: status.size, body: { excerpt }) { throw failure }
        // The transport may have replaced the locked file.
        let lock: FileLock? =
            if case .locked(let new, _) = FileLock.open(part, mode: 0o600) { FileLock(new) } else { nil }
        defer { lock?.release() }
        guard FileStatus(of: part, followsLinks: false)?.isSameFile(as: status) == true else {
            throw PartialFile.failure(.cannotMoveFile, url: part)
        }
        let file = DownloadedFile(part: part, head: response.head, headers: response.head.headers, contentStart: 0)
        let source = result.request.url
        result.response.body = .file(try await file.complete(at: destination, from: source, of: call.handle))
        await removeLeftovers()
        return result
    }

    /// Removes the hidden file on another thread, because removing a large file takes time.
    func remove() async {
        await DispatchQueue(label: "TargetKit.download").run { self.file.remove() }
    }

    /// Removes files that killed processes left behind for earlier downloads to the destination.
    private func removeLeftovers() async {
        let neighbor = DownloadPlace(destination).partNeighbor
        await DispatchQueue(label: "TargetKit.download").run { PartialFile.removeLeftovers(of: neighbor) }
    }

    /// The first bytes of the body; empty if they can't be read.
    private var excerpt: Data {
        guard let source = try? FileBodySource(part), let reader = try? source.open() else { return Data() }
        var data = Data(count: Int(min(source.length ?? 0, Int64(ResponseBody.excerptSize))))
        let count = data.withUnsafeMutableBytes { buffer in try? reader.read(into: buffer) }
        return data.prefix(count ?? 0)
    }
}

extension ExchangeResult {
    /// Checks that the body is the whole file, or the part that the target requested.
    ///
    /// - Parameter byteCount: The size of the body; `nil` for the announced one.
    func checkRange(byteCount: Int64? = nil) throws {
        let head = response.head
        guard head.statusCode == 206 else {
            if let reason = head.reasonForPart(byteCount: byteCount) { throw URLError.unusable(reason) }
            return
        }
        guard let requested = request.value(forHTTPHeaderField: "Range") else {
            throw URLError.unusable("it is only a part of the file (HTTP 206), but the whole file was requested")
        }
        if head.headers.isMultipartRanges {
            if !requested.contains(",") { throw URLError.unusable("the range is in a multipart body") }
            return
        }
        guard let range = head.headers[.contentRange].flatMap(ContentRange.init), let bytes = range.bytes else {
            return
        }
        let positions = requested.split(separator: "=").last?.split(separator: "-", omittingEmptySubsequences: false)
        if !requested.contains(","), let positions, positions.count == 2, let first = Int64(positions[0]),
            bytes.lowerBound < first || bytes.upperBound > Int64(positions[1]) ?? .max
        {
            throw URLError.unusable("the server sent a different range than requested")
        }
        if head.headers.isUncoded, let count = byteCount ?? head.headers.contentLength,
            count - 1 != bytes.upperBound - bytes.lowerBound
        {
            throw URLError.unusable("it has \(count) bytes, which isn't the length of the range in Content-Range")
        }
    }
}

extension URLError {
    /// The error for an unusable response.
    package static func unusable(_ words: String) -> URLError {
        URLError(.badServerResponse, message: words)
    }
}
