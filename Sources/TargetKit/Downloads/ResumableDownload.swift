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

    let destination: DownloadDestination
    let url: URL
    let part: DownloadPart
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
        guard var record = part.record(), record.url == MessageDigest.sha256.hexadecimal(of: url.absoluteString) else {
            return nil
        }
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
