// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One attempt of a download that continues what earlier attempts have stored.
final class ResumableDownload: Sendable {
    /// What is there of the file.
    private struct Stored: Sendable {
        var record: PartRecord
        let size: Int64

        /// The first byte to request. Of a complete file the last byte is requested again, so that the response shows
        /// whether it is still the current version.
        var first: Int64 { size == record.length ? size - 1 : size }
    }

    private let destination: DownloadDestination
    private let url: URL
    private let part: DownloadPart
    private let stored: Stored?

    /// Opens the part of the request's file; returns `nil` if the request cannot be continued, or another call uses the
    /// part.
    init?(_ request: TransportRequest, _ validation: StatusValidation) {
        guard let destination = request.download, destination.isResumable, request.isResumable, validation.accepts(200),
            let url = request.urlRequest.url
        else { return nil }
        let place = DownloadPlace(destination)
        let permissions = place.replacedFile.flatMap { FileStatus(of: $0) }?.permissions
        guard let part = DownloadPart.open(place.part(for: url), permissions: permissions) else { return nil }
        self.destination = destination
        self.url = url
        self.part = part
        stored = Self.stored(in: part, of: url)
    }

    private static func stored(in part: DownloadPart, of url: URL) -> Stored? {
        guard var record = part.record(), record.url == PartRecord.digest(of: url.absoluteString) else { return nil }
        var size = part.size
        if record.boot == nil || record.boot != Boot.current {
            // What was not flushed can be lost, or be zeros.
            size = min(size, record.syncedByteCount)
            record.boot = Boot.current
        }
        record.syncedByteCount = min(size, record.syncedByteCount)
        guard size > 0, size <= record.length ?? size else { return nil }
        return Stored(record: record, size: size)
    }

    /// Adds the fields that request the rest of the file.
    func addFields(to request: inout URLRequest) {
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            // The positions of a coded representation are not those of the file.
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        guard let stored else { return }
        request.setValue("bytes=\(stored.first)-", forHTTPHeaderField: "Range")
        request.setValue(stored.record.validator.field, forHTTPHeaderField: "If-Range")
    }

    /// Ends the attempt, sent or not: another call can continue what is there. Removes what cannot be continued.
    func end() {
        part.removeUnlessRecorded()
        part.unlock()
    }

    /// Removes what is there, because the transport cannot continue it.
    ///
    /// - Throws: ``DownloadFailure/mustRestart(reason:)`` if a range was requested.
    func abandon() throws {
        part.remove()
        if stored != nil { throw DownloadFailure.mustRestart(reason: "the transport cannot stream a response") }
    }

    /// Stores the body of a response. Returns the response with the file, or with the first bytes of a body that is not
    /// the file's.
    ///
    /// - Parameter isAccepted: Whether the target accepts the status of a complete response.
    func store(
        _ result: ExchangeResult,
        _ body: ResponseBody,
        isAccepted: Bool,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> ExchangeResult {
        let (head, source) = (result.response.head, result.request.urlRequest.url ?? url)
        switch RangeResponse(head, to: stored?.record, from: stored?.first ?? 0, source: source) {
        case .whole where isAccepted:
            let record = try await receiveWhole(head, body, source: source, progress)
            return try await complete(result, headers: head.headers, record: record, contentStart: 0)
        case .whole, .other:
            var refused = result
            refused.response.body = .data(try await body.excerpt)
            return refused
        case .range(let range, let length):
            guard var record = stored?.record else { throw URLError(.badServerResponse) }
            record.length = length
            try await receive(range, length, record, body, progress)
            guard range.upperBound + 1 == length else {
                throw DownloadFailure.isIncomplete(receivedByteCount: range.upperBound - range.lowerBound + 1)
            }
            var headers = head.headers
            headers[.contentRange] = nil
            headers[.contentLength] = String(length)
            headers[.contentDigest] = nil
            var complete = result
            // RFC 9110 §15.3.7.3: the parts are processed as a complete response.
            complete.response.head = ResponseHead(statusCode: 200, headers: headers, httpVersion: head.httpVersion)
            return try await self.complete(
                complete,
                headers: head.headers,
                record: record,
                contentStart: range.lowerBound
            )
        case .unusable(let reason):
            part.remove()
            guard stored != nil else { throw URLError.unusable(reason) }
            throw DownloadFailure.mustRestart(reason: reason)
        }
    }
}

// MARK: - The body

extension ResumableDownload {
    /// Returns the record with which the file can be continued, if it can.
    private func receiveWhole(
        _ head: ResponseHead,
        _ body: ResponseBody,
        source: URL,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> PartRecord? {
        let length = head.headers.isUncoded ? head.headers.contentLength : nil
        var record = PartRecord(head, of: url, from: source)
        let writer = DownloadWriter(part, from: 0, record: record, length: length, progress: progress)
        try await copy(body, Announced(start: 0, count: length, isComplete: true), to: writer)
        record?.length = writer.end
        return record
    }

    private func receive(
        _ range: ClosedRange<Int64>,
        _ length: Int64,
        _ record: PartRecord,
        _ body: ResponseBody,
        _ progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws {
        let writer = DownloadWriter(part, from: range.lowerBound, record: record, length: length, progress: progress)
        let announced = Announced(
            start: range.lowerBound,
            count: range.upperBound - range.lowerBound + 1,
            isComplete: range.upperBound + 1 == length
        )
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
        let count = announced.count
        var received: Int64 = 0
        do throws(PartialFile.Failure) { try await writer.begin() } catch { throw URLError(error) }
        do {
            for try await piece in body {
                received += Int64(piece.count)
                if let count, received > count { break }
                try await writer.write(piece)
            }
            try Task.checkCancellation()
        } catch {
            try await writer.finish(after: error)
        }
        if let count, received > count {
            // What the server has sent is not what it announced.
            try? await writer.finish()
            try? part.truncate(to: announced.start)
            throw URLError.unusable("the body is longer than the \(count) bytes that were announced")
        }
        if let count, received < count {
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
    private func complete(
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
            // Only the file's place is missing: the next call asks for one byte.
            if let record { part.write(record, isDurable: true) }
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

extension ResponseBody {
    /// The first bytes of the body of a response that is not stored.
    fileprivate var excerpt: Data {
        get async throws {
            var data = Data()
            for try await piece in self {
                data.append(piece.prefix(PendingDownload.excerptSize - data.count))
                if data.count == PendingDownload.excerptSize { break }
            }
            return data
        }
    }
}

extension TransportRequest {
    /// Whether the response can be continued by a request for the rest.
    fileprivate var isResumable: Bool {
        guard case .none = body, (urlRequest.httpMethod ?? "GET") == "GET" else { return false }
        return ["Range", "If-Range"].allSatisfy { urlRequest.value(forHTTPHeaderField: $0) == nil }
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
