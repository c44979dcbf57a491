// SPDX-License-Identifier: MIT
import TargetKit

extension ResumableDownload {
    /// The reason why stored bytes aren't continued.
    static func dropReason(_ record: PartRecord?, identity: String, isAdmitted: Bool) -> String {
        let reason =
            if record == nil { "their record is missing or damaged" } else if record?.identity != identity {
                "they are of another URL"
            } else if isAdmitted { "they weren't flushed before the system stopped" } else {
                "they were requested with other credentials, or with a signature that doesn't name its user"
            }
        return "the stored bytes aren't continued: " + reason
    }

    /// Stores a body in a segment, and concurrently requests the other incomplete segments.
    ///
    /// - Parameters:
    ///   - announcedByteCount: The size of the body; `nil` if the response doesn't announce it.
    ///   - others: Requests another segment.
    func receive(
        _ body: ResponseBody,
        announcedByteCount: Int64?,
        into segments: PartSegments,
        index: Int,
        others: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws {
        try await segments.perform { Result { try segments.begin() } }.get()
        let all = segments.segments
        let incomplete = all.indices.filter { $0 != index && !all[$0].isComplete }
        guard maxSegments > 1, !incomplete.isEmpty, segments.record != nil else {
            return try await copy(body, announcedByteCount: announcedByteCount, into: segments, index: index)
        }
        let requests = incomplete.prefix(maxSegments - 1).map { other in
            let request = ResumableDownload(self, index: other, of: segments)
            return (request, task: Task { await others(request) })
        }
        try await withTaskCancellationHandler {
            do {
                try await copy(body, announcedByteCount: announcedByteCount, into: segments, index: index)
            } catch {
                for (_, task) in requests { task.cancel() }
                for (_, task) in requests { await task.value }
                throw error
            }
            // A plugin may delay a request until this one ends.
            for (request, task) in requests where !request.isSent { task.cancel() }
            for (_, task) in requests { await task.value }
        } onCancel: {
            for (_, task) in requests { task.cancel() }
        }
    }

    /// Stores a body in a segment.
    func copy(
        _ body: ResponseBody,
        announcedByteCount: Int64?,
        into segments: PartSegments,
        index: Int
    ) async throws {
        let start = segments.segments[index].position
        let writer = DownloadWriter(segments, index: index, announcedByteCount: announcedByteCount)
        do {
            try await writer.write(body)
            try Task.checkCancellation()
        } catch is DownloadWriter.EndOfSegment {
            // The exchange has no reader any more, so the transport ends it.
        } catch is DownloadWriter.Overlong {
            // The server didn't send what it announced.
            try? await writer.finish()
            await segments.perform { segments.discard(index, from: start) }
            let words = "the body exceeds the announced length of \(announcedByteCount ?? 0) bytes"
            throw URLError(.badServerResponse, message: words)
        } catch {
            try await writer.finish(after: error)
        }
        let received = writer.receivedByteCount
        note(received: received)
        let end = segments.segments[index].end
        if let count = announcedByteCount, received < min(count, end.map { $0 - start } ?? count) {
            let words = "the body ended after \(received) of \(count) bytes"
            try await writer.finish(after: URLError(.networkConnectionLost, message: words))
        }
        try await writer.finish(isAtEnd: true)
        guard await segments.perform({ segments.isIntact }) else {
            part.remove()
            throw URLError(.cannotMoveFile, message: "\(part.url.path) was changed during the download")
        }
    }

    /// Checks the file, and moves it to its destination if it is complete.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - contentStart: The position of the response's first byte; `nil` if the response doesn't contain the end of
    ///     the file.
    func complete(
        _ result: ExchangeResult,
        headers: HTTPHeaders,
        _ segments: PartSegments,
        contentStart: Int64?
    ) async throws -> ExchangeResult {
        guard segments.isComplete else {
            throw DownloadFailure.isIncomplete(receivedByteCount: segments.newByteCount)
        }
        let record = segments.record
        var checked = headers
        if contentStart == nil { checked[.contentDigest] = nil }
        if let record {
            checked[.reprDigest] = headers[.reprDigest] ?? record.digest
            checked[.contentDisposition] = headers[.contentDisposition] ?? record.disposition
        }
        let file = DownloadedFile(
            part: part.url,
            head: result.response.head,
            headers: checked,
            contentStart: contentStart ?? 0
        )
        let source = result.request.url
        do {
            let place = try await file.complete(at: destination, from: source, of: handle)
            part.removeRecord()
            var result = result
            result.response.body = .file(place)
            return result
        } catch let error as URLError where error.code == .badServerResponse {
            part.remove()
            throw error
        } catch {
            // The file is complete, so the next call requests only its last byte.
            if let record { part.write(record) }
            throw error
        }
    }
}

extension DownloadWriter {
    /// Finishes after a failure, and throws its cause: the failure to write, or the error.
    fileprivate func finish(after error: any Error) async throws -> Never {
        try await finish()
        throw error
    }
}
