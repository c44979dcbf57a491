// SPDX-License-Identifier: MIT

/// Downloads the response of a call to a file with one request. An existing file is replaced only if the target accepts
/// the response.
struct FileDownload: TransferDriver {
    let destination: DownloadDestination

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        if exchanges.isStreamed { throw InvalidRequest.streamedDownload }
        try destination.check()
        return try await exchanges.send(exchanges.prepare(request), to: destination)
    }
}

extension CallExchanges {
    /// Downloads the response to a file with one request.
    package func send(_ request: TransportRequest, to destination: DownloadDestination) async throws -> Response {
        let (download, validation) = (try PendingDownload(to: destination), context.target.validation)
        var request = request
        request.destination = .file(download.part)
        do {
            return try await send(request, validation: validation.ofDownload) { [call] result in
                try await download.finish(result, validation: validation, of: call)
            }
        } catch {
            await download.remove()
            throw error
        }
    }
}

/// The body of a response that isn't accepted yet, in a hidden file beside its destination. Only this user can read it,
/// and it is removed when the object is deallocated.
final class PendingDownload: Sendable {
    private let destination: DownloadDestination
    private let file: PartialFile

    /// The hidden file.
    var part: URL { file.url }

    /// - Throws: A `URLError` if the file can't be created.
    init(to destination: DownloadDestination) throws {
        self.destination = destination
        file = try PartialFile(beside: destination.partNeighbor)
        FileProtection.allowAccessWhileLocked(file.url)
    }

    /// Moves the body to its destination if the response is an accepted success (RFC 9110 §15.3). Otherwise leaves the
    /// destination unchanged, and returns the response with the first bytes of its body in memory.
    ///
    /// - Throws: The failure that the server reports in the body instead of the file, among others.
    func finish(
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
        let lock = open(part.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        FileLock.take(lock)
        defer { if lock >= 0 { FileLock.release(lock) } }
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
        let neighbor = destination.partNeighbor
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

/// The moment at which a file is moved to its destination. Either the call is cancelled before it, or it succeeds.
final class DownloadCommit: Sendable {
    private let handle: RequestHandle
    /// Whether the task of the call or its exchange is cancelled.
    private let isTaskCancelled = Locked(false)

    init(_ handle: RequestHandle) {
        self.handle = handle
    }

    var isCancelled: Bool { isTaskCancelled.withLock(\.self) }

    func cancel() { isTaskCancelled.withLock { $0 = true } }

    /// Moves the file, unless the call was cancelled before. If moving fails or the name is taken, the call can be
    /// cancelled again.
    ///
    /// - Parameter move: Returns whether the file is at its destination.
    func perform(_ move: () throws -> Bool) throws -> Bool {
        let isCommitted = isTaskCancelled.withLock { isTaskCancelled in !isTaskCancelled && handle.commit() }
        guard isCommitted else { throw CancellationError() }
        var isInPlace = false
        defer { if !isInPlace { handle.revokeCommit() } }
        isInPlace = try move()
        return isInPlace
    }
}
