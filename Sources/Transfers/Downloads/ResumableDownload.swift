// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// One request of a download that continues the bytes of earlier attempts.
final class ResumableDownload: Sendable {
    /// The stored part of the file.
    private struct Stored: Sendable {
        var record: PartRecord
        var segments: [PartSegments.Segment]
        /// The segment that is requested.
        var index: Int

        init(_ record: PartRecord, segments: [PartSegments.Segment]) {
            self.record = record
            self.segments = segments
            index = segments.firstIndex { !$0.isComplete } ?? segments.count - 1
            // The last byte of a complete file is requested again, to validate that the file is still current.
            if segments[index].isComplete { self.segments[index].position -= 1 }
        }

        /// The first byte to request.
        var first: Int64 { segments[index].position }
        /// The last byte to request; `nil` for the rest of the file.
        var last: Int64? { index == segments.count - 1 ? nil : segments[index].end.map { $0 - 1 } }
    }

    /// Requests no content coding, because byte positions in a coded representation differ from those in the file.
    static let acceptedEncoding = "identity"

    let destination: DownloadDestination
    /// The number of ranges that are requested at the same time.
    let maxSegments: Int
    let url: URL
    let part: DownloadPart
    /// The handle of the call.
    let handle: RequestHandle
    private let stored: Stored?
    /// The requester, as far as it is known before the request is signed.
    private let requester: DownloadRequester
    /// Whether the call wrote the stored bytes.
    private let isOwnPart: Bool
    /// Whether the call dropped bytes that it had stored with other credentials.
    let hasDroppedOwnPart: Bool
    private let dropped: Locked<String?>
    /// The segments of the file; `nil` for the first request of an attempt.
    private let segments: PartSegments?
    private let received = Locked<PartSegments?>(nil)
    /// The number of bytes that this request's response added to the file.
    private let receivedByteCount = Locked<Int64>(0)
    /// The requester of the request that was sent.
    private let sent = Locked<DownloadRequester?>(nil)

    var isFirst: Bool { segments == nil }
    /// Whether the plugins let the request through.
    var isSent: Bool { sent.withLock { $0 != nil } }
    /// The number of stored bytes after a response with bytes of the file.
    var storedByteCount: Int64? { received.withLock(\.self)?.storedByteCount }

    /// Identifies the part that the response was stored in; `nil` if it can't be continued.
    var partIdentifier: String? { received.withLock(\.self)?.record?.owner.identifier }

    /// The reason why stored bytes aren't continued; `nil` if they are, or there are none.
    var dropReason: String? { dropped.withLock(\.self) }

    /// Opens the part of the request's file; returns `nil` if the request can't be continued, or another call uses the
    /// part.
    init?(_ request: TransportRequest, of download: ResumableFileDownload, in context: RequestContext) {
        guard request.isResumable, context.target.validation.accepts(200), let url = request.urlRequest.url
        else { return nil }
        destination = download.destination
        let permissions = destination.replacedFile.flatMap { FileStatus(of: $0) }?.permissions
        guard let part = DownloadPart.open(destination.part(for: url), permissions: permissions) else { return nil }
        maxSegments = download.maxSegments
        self.url = url
        self.part = part
        handle = context.handle
        requester = DownloadRequester(request.urlRequest, context: context)
        segments = nil
        let record = part.record()
        let isOwnPart = record != nil && record?.owner.identifier == context[PartKey.self]
        self.isOwnPart = isOwnPart
        let identity = SHA256Hasher.hexadecimal(of: download.destination.identity(at: url))
        let isAdmitted = record?.owner.admits(requester, isSameCall: isOwnPart) == true
        hasDroppedOwnPart = isOwnPart && !isAdmitted
        stored = isAdmitted && record?.identity == identity ? record.flatMap { Self.stored($0, in: part) } : nil
        let hasBytes = part.size > 0
        dropped = Locked(
            stored == nil && hasBytes ? Self.dropReason(record, identity: identity, isAdmitted: isAdmitted) : nil
        )
    }

    /// Creates another request of the same attempt, for a segment.
    init(_ first: ResumableDownload, index: Int, of segments: PartSegments) {
        destination = first.destination
        maxSegments = first.maxSegments
        url = first.url
        part = first.part
        handle = first.handle
        requester = first.requester
        isOwnPart = true
        hasDroppedOwnPart = false
        dropped = Locked(nil)
        self.segments = segments
        stored = segments.record.map { record in
            var stored = Stored(record, segments: segments.segments)
            stored.index = index
            return stored
        }
    }

    private static func stored(_ record: PartRecord, in part: DownloadPart) -> Stored? {
        var record = record
        // After another boot, bytes that weren't flushed can be lost or zero.
        let isSameBoot = record.boot != nil && record.boot == Boot.current
        record.boot = Boot.current
        let size = part.size
        guard let divided = record.segments else {
            let position = isSameBoot ? size : min(size, record.syncedByteCount)
            record.syncedByteCount = min(position, record.syncedByteCount)
            guard position > 0, position <= record.length ?? position else { return nil }
            return Stored(record, segments: [PartSegments.Segment(start: 0, end: record.length, position: position)])
        }
        let positions =
            (isSameBoot ? part.contents(of: part.positionsURL) : nil)
            .flatMap { PositionsFile.positions(in: $0, of: record) } ?? divided.map(\.syncedEnd)
        let segments = zip(divided, positions).map {
            PartSegments.Segment(start: $0.start, end: $0.end, position: $1)
        }
        guard segments.neededSize > 0, segments.neededSize <= size else { return nil }
        return Stored(record, segments: segments)
    }

    /// Adds the fields that request the rest of the file or segment.
    func addFields(to request: inout URLRequest) {
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue(Self.acceptedEncoding, forHTTPHeaderField: "Accept-Encoding")
        }
        guard let stored else { return }
        let last = stored.last.map(String.init) ?? ""
        request.setValue("bytes=\(stored.first)-\(last)", forHTTPHeaderField: "Range")
        request.setValue(stored.record.validator.field, forHTTPHeaderField: "If-Range")
    }

    func note(received byteCount: Int64) {
        receivedByteCount.withLock { $0 = byteCount }
    }

    /// The result with the metrics of its exchange, which a transport doesn't have for a body that it streams.
    func measured(_ result: ExchangeResult, since start: ContinuousClock.Instant) -> ExchangeResult {
        guard result.response.metrics == nil else { return result }
        var result = result
        result.response.metrics = TransportMetrics(
            total: start.duration(to: .now),
            bytesReceived: receivedByteCount.withLock(\.self),
            httpVersion: result.response.head.httpVersion
        )
        return result
    }

    func note(sent request: URLRequest, in context: RequestContext) {
        var requester = requester
        requester.note(sent: request, owner: context.credentialOwner)
        sent.withLock { $0 = requester }
    }

    /// The requester of a response.
    private func requester(of result: ExchangeResult) -> DownloadRequester {
        var requester = sent.withLock(\.self) ?? requester
        if !result.redirects.isEmpty {
            requester.note(redirected: result.response.request ?? result.request)
        }
        return requester
    }

    /// Ends the attempt, so that another call can continue the stored bytes. Removes bytes that can't be continued.
    func end() {
        guard isFirst else { return }
        part.removeUnlessRecorded()
        part.unlock()
    }

    /// Ends the attempt, and removes the stored bytes, because the transport can't continue them.
    func abandon() {
        part.remove()
        end()
    }

    /// Stores the body of a response. Returns the response with the file, or with the first bytes of a body that isn't
    /// part of the file.
    ///
    /// - Parameters:
    ///   - isAccepted: Whether the target accepts the status of a complete response.
    ///   - others: Requests another segment.
    func store(
        _ result: ExchangeResult,
        body: ResponseBody,
        isAccepted: Bool,
        progress: (@Sendable (TransferProgress) -> Void)?,
        others: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws -> ExchangeResult {
        let (head, source) = (result.response.head, result.request.url ?? url)
        let requester = requester(of: result)
        switch response(head, from: source, to: requester) {
        case .whole where isAccepted && isFirst:
            if stored != nil {
                dropped.withLock { $0 = "the stored bytes aren't continued: the server sent the whole file" }
            }
            let length = head.headers.uncodedLength
            var record = PartRecord(head, of: destination.identity(at: url), by: requester, from: source)
            record?.length = length ?? knownLength(of: head.headers)
            let segments = newSegments(head, record: record, progress: progress)
            received.withLock { $0 = segments }
            try await receive(body, announcedByteCount: length, into: segments, index: 0, others: others)
            if length == nil { try checkLength(segments.storedByteCount, of: head.headers) }
            return try await complete(result, headers: head.headers, segments, contentStart: 0)
        case .whole, .other:
            if head.statusCode < 300, !isFirst { throw DownloadFailure.mustRestart(reason: "the segment wasn't sent") }
            var refused = result
            refused.response.body = .data(try await body.excerpt)
            return refused
        case .range(let range, let length):
            return try await store(result, body: body, range: range, length: length, progress: progress, others: others)
        case .unusable(let reason):
            if isFirst { part.remove() }
            guard stored != nil else { throw URLError(.badServerResponse, message: reason) }
            throw DownloadFailure.mustRestart(reason: reason)
        }
    }

    /// The length of a whole file whose response has no `Content-Length`, from its `Content-Range` or the stored part
    /// of the same version; `nil` if it is unknown.
    private func knownLength(of headers: HTTPHeaders) -> Int64? {
        guard headers.isUncoded else { return nil }
        if let length = headers[.contentRange].flatMap({ ContentRange($0)?.completeLength }) { return length }
        return stored.flatMap { $0.record.validator.matches(headers) ? $0.record.length : nil }
    }

    /// Checks the length of a whole file whose response has no `Content-Length`.
    private func checkLength(_ byteCount: Int64, of headers: HTTPHeaders) throws {
        guard let known = knownLength(of: headers), known != byteCount else { return }
        part.remove()
        let reason = "it has \(byteCount) bytes, but its version has \(known)"
        guard stored != nil else { throw URLError(.badServerResponse, message: reason) }
        throw DownloadFailure.mustRestart(reason: reason)
    }

    private func response(
        _ head: ResponseHead,
        from source: URL,
        to requester: DownloadRequester
    ) -> RangeResponse {
        let (first, last) = (stored?.first ?? 0, stored?.last)
        let response = RangeResponse(head, to: stored?.record, from: first, through: last, source: source)
        if case .range = response, let owner = stored?.record.owner,
            !owner.admitsResponse(to: requester, isSameCall: isOwnPart)
        {
            return .unusable(reason: "the stored bytes were requested with other credentials")
        }
        return response
    }

    private func newSegments(
        _ head: ResponseHead,
        record: PartRecord?,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) -> PartSegments {
        let length = head.headers.uncodedLength
        // A server that responds to a range request with the whole file may do so again.
        let isDivided = stored == nil && record != nil && head.headers.values(for: .acceptRanges) == ["bytes"]
        let segments =
            if isDivided, let length { PartSegments.dividing(length, into: maxSegments) } else {
                [PartSegments.Segment(start: 0, end: length, position: 0)]
            }
        return PartSegments(part, record: record, segments: segments, length: length, progress: progress)
    }

    private func store(
        _ result: ExchangeResult,
        body: ResponseBody,
        range: ClosedRange<Int64>,
        length: Int64,
        progress: (@Sendable (TransferProgress) -> Void)?,
        others: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws -> ExchangeResult {
        guard var stored else { throw URLError(.badServerResponse) }
        let count = range.upperBound - range.lowerBound + 1
        if let segments {
            try await copy(body, announcedByteCount: count, into: segments, index: stored.index)
            var received = result
            received.response.body = .data(Data())
            return received
        }
        stored.record.length = length
        if stored.segments.count == 1 { stored.segments[0].end = length }
        let segments = PartSegments(
            part,
            record: stored.record,
            segments: stored.segments,
            length: length,
            progress: progress
        )
        received.withLock { $0 = segments }
        try await receive(body, announcedByteCount: count, into: segments, index: stored.index, others: others)
        return try await complete(
            result.asWhole(length),
            headers: result.response.head.headers,
            segments,
            contentStart: range.upperBound + 1 == length ? range.lowerBound : nil
        )
    }
}

extension ExchangeResult {
    /// The result for a file that this response completes. The parts are processed as a complete response (RFC 9110
    /// §15.3.7.3).
    fileprivate func asWhole(_ length: Int64) -> ExchangeResult {
        let head = response.head
        var headers = head.headers
        headers[.contentRange] = nil
        headers[.contentLength] = String(length)
        headers[.contentDigest] = nil
        var result = self
        result.response.head = ResponseHead(statusCode: 200, headers: headers, httpVersion: head.httpVersion)
        return result
    }
}

extension HTTPHeaders {
    /// The size of the content in bytes; `nil` if the content has a coding or no stated size.
    fileprivate var uncodedLength: Int64? { isUncoded ? contentLength : nil }
}

extension ResponseBody {
    /// The first bytes, at most 1 MiB, of the body of a response that isn't stored.
    fileprivate var excerpt: Data {
        get async throws {
            let limit = 1 << 20
            var data = Data()
            for try await piece in self {
                data.append(piece.prefix(limit - data.count))
                if data.count == limit { break }
            }
            return data
        }
    }
}

extension TransportRequest {
    /// Whether a request for the rest can continue the response.
    fileprivate var isResumable: Bool {
        guard case .none = body, (urlRequest.httpMethod ?? "GET") == "GET" else { return false }
        return ["Range", "If-Range"].allSatisfy { urlRequest.value(forHTTPHeaderField: $0) == nil }
    }
}
