// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ResumableDownload {
    /// Returns the record with which the file can be continued, if it can.
    func receiveWhole(
        _ head: ResponseHead,
        _ body: ResponseBody,
        source: URL,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> PartRecord? {
        let length = head.headers.isUncoded ? head.headers.contentLength : nil
        var record = PartRecord(head, of: url, from: source)
        let writer = DownloadWriter(
            part,
            from: 0,
            record: record,
            length: length,
            announcedByteCount: length,
            progress: progress
        )
        try await copy(body, Announced(start: 0, count: length, isComplete: true), to: writer)
        record?.length = writer.end
        return record
    }

    func receive(
        _ range: ClosedRange<Int64>,
        _ length: Int64,
        _ record: PartRecord,
        _ body: ResponseBody,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws {
        let count = range.upperBound - range.lowerBound + 1
        let writer = DownloadWriter(
            part,
            from: range.lowerBound,
            record: record,
            length: length,
            announcedByteCount: count,
            progress: progress
        )
        let announced = Announced(start: range.lowerBound, count: count, isComplete: range.upperBound + 1 == length)
        try await copy(body, announced, to: writer)
    }

    /// The bytes that a response is to bring.
    private struct Announced {
        let start: Int64
        /// `nil` if the response does not say.
        let count: Int64?
        /// Whether the file is complete after them.
        let isComplete: Bool
    }

    private func copy(_ body: ResponseBody, _ announced: Announced, to writer: DownloadWriter) async throws {
        do throws(PartialFile.Failure) { try await writer.begin() } catch { throw URLError(error) }
        do {
            try await writer.write(body)
            try Task.checkCancellation()
        } catch is DownloadWriter.Overlong {
            // What the server has sent is not what it announced.
            try? await writer.finish()
            try? part.truncate(to: announced.start)
            throw URLError.unusable("the body is longer than the \(announced.count ?? 0) bytes that were announced")
        } catch {
            try await writer.finish(after: error)
        }
        let received = writer.receivedByteCount
        if let count = announced.count, received < count {
            let words = "the body ended after \(received) of \(count) bytes"
            let error = URLError(.networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: words])
            try await writer.finish(after: error)
        }
        do throws(PartialFile.Failure) {
            try await writer.finish(isComplete: announced.isComplete)
        } catch {
            throw URLError(error)
        }
        guard part.isInPlace, part.size == writer.end else {
            part.remove()
            let words = "\(part.url.path) was changed during the download"
            throw URLError(.cannotMoveFile, userInfo: [NSLocalizedDescriptionKey: words])
        }
    }

    /// Checks the complete file and moves it to its place.
    func complete(
        _ result: ExchangeResult,
        headers: HTTPHeaders,
        record: PartRecord?,
        contentStart: Int64
    ) async throws -> ExchangeResult {
        var checked = headers
        if let record {
            checked[.reprDigest] = headers[.reprDigest] ?? record.digest
            checked[.contentDisposition] = headers[.contentDisposition] ?? record.disposition
        }
        let file = DownloadedFile(
            part: part.url,
            head: result.response.head,
            headers: checked,
            contentStart: contentStart
        )
        let source = result.request.urlRequest.url
        do {
            let place = try await file.complete(at: destination, from: source)
            part.removeRecord()
            var result = result
            result.response.body = .file(place)
            return result
        } catch let error as DownloadedFile.Mismatch {
            part.remove()
            throw URLError.unusable(error.description)
        } catch {
            // The file is complete, so the next call requests its last byte only.
            if let record { part.write(record) }
            throw error
        }
    }
}

extension DownloadWriter {
    /// Finishes after a failure, and throws its cause: the failure to write, or the error.
    fileprivate func finish(after error: any Error) async throws -> Never {
        do throws(PartialFile.Failure) { try await finish() } catch { throw URLError(error) }
        throw error
    }
}

extension URLError {
    init(_ failure: PartialFile.Failure) {
        self.init(failure.code, userInfo: [NSLocalizedDescriptionKey: failure.message])
    }

    /// The error of a response that does not make sense.
    static func unusable(_ words: String) -> URLError {
        URLError(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: words])
    }
}
