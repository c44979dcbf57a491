// SPDX-License-Identifier: MIT
import TargetKit

/// Downloads the response of a call to a file, continuing the bytes of earlier attempts and calls.
struct ResumableFileDownload: TransferDriver {
    let destination: DownloadDestination
    /// The number of ranges that are requested at the same time.
    var maxSegments: Int

    /// The maximum number of bytes that a transport buffers before writing. They are lost when the process is killed.
    private static let buffer = 256 << 10

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        if exchanges.isStreamed { throw InvalidRequest.streamedDownload }
        try destination.check()
        let resumptions = exchanges.context.downloadResumptions
        var streams = exchanges.transport.streamsResponses
        while true {
            resumptions.pauses.setPossible(streams, over: exchanges)
            try await resumptions.pauses.wait(over: exchanges)
            let prepared = try await exchanges.prepare(request)
            var download = self
            // The server may respond to every range in the same way.
            if resumptions.hasRestarted { download.maxSegments = 1 }
            do {
                let rest = ResumableDownload(prepared, of: download, in: exchanges.context)
                if streams, let rest {
                    return try await send(prepared, for: rest, over: exchanges, resumptions: resumptions)
                }
                rest?.abandon()
                exchanges.onPause(nil)
                return try await exchanges.send(prepared, to: destination)
            } catch let error as TargetKitError {
                if streams, (error.underlying as? URLError)?.userInfo[FailureMark.cannotStream] != nil {
                    streams = false
                } else if error.stage == .request || !resumptions.continues(after: error, in: exchanges) {
                    throw error
                }
            }
        }
    }

    func end(_ result: Result<Response, TargetKitError>, over exchanges: CallExchanges) async {
        exchanges.onPause(nil)
    }

    /// Requests the missing bytes.
    private func send(
        _ prepared: TransportRequest,
        for download: ResumableDownload,
        over exchanges: CallExchanges,
        resumptions: DownloadResumptions
    ) async throws -> Response {
        let context = exchanges.context
        if download.hasDroppedOwnPart { resumptions.noteDroppedPart() }
        // A segment has its own exchange, with a copy of the values that plugins stored in `prepare`.
        let others = exchanges.concurrent()
        // Noted before plugins receive the response, and even without a response.
        let note = { @Sendable in
            var state = context.transfer ?? TransferState()
            if let count = download.storedByteCount { state = TransferState(continuedByteCount: count) }
            state.dropReason = download.dropReason
            context.transfer = state
            if let part = download.partIdentifier { context[PartKey.self] = part }
        }
        note()
        defer {
            note()
            download.end()
        }
        return try await resumptions.pauses.run {
            try await exchanges.request(
                download,
                from: prepared,
                validation: context.target.validation.ofDownload,
                note: note
            ) { segment in
                // If it fails, the next attempt requests the rest of the segment.
                var request = prepared
                request.progress = nil
                _ = try? await others.request(segment, from: request, validation: .successCodes) { _ in }
            }
        }
    }

    /// The request for the rest of a download, or a segment of it.
    fileprivate static func request(
        _ download: ResumableDownload,
        from prepared: TransportRequest,
        in context: RequestContext
    ) -> TransportRequest {
        var request = prepared
        download.addFields(to: &request.urlRequest)
        request.destination = .stream(buffer: buffer)
        request.onSend = { download.note(sent: $0, in: context) }
        // Bytes are reported when they are stored.
        if let progress = prepared.progress {
            request.progress = { step in if step.direction == .upload { progress(step) } }
        }
        return request
    }
}

extension CallExchanges {
    /// Requests a download, or a segment of it, and stores the response in a part that stays if the call fails.
    fileprivate func request(
        _ download: ResumableDownload,
        from prepared: TransportRequest,
        validation: StatusValidation,
        note: @escaping @Sendable () -> Void = {},
        others: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws -> Response {
        let accepted = context.target.validation
        let request = ResumableFileDownload.request(download, from: prepared, in: context)
        let start = ContinuousClock.now
        return try await send(request, validation: validation) { result in
            guard case .stream(let body) = result.response.body else { throw URLError(.cannotParseResponse) }
            defer { note() }
            let isAccepted = accepted.acceptsFile(result.response.head.statusCode)
            let stored = try await download.store(
                result,
                body: isAccepted ? try await checked(body, of: result) : body,
                isAccepted: isAccepted,
                progress: prepared.progress,
                others: others
            )
            return download.measured(stored, since: start)
        }
    }
}

/// Counts the requests that a resumable download sends without consulting plugins, for the whole call.
final class DownloadResumptions: Sendable {
    /// The maximum number of times that a call starts over.
    private static let restartLimit = 2
    /// The size below which a part of a range counts as short.
    private static let shortRange: Int64 = 64 << 10
    /// The maximum number of short parts.
    private static let shortRangeLimit = 100

    private struct Counts: Sendable {
        var restarts = 0
        var shortRanges = 0
        /// The number of times that the call dropped its stored bytes because its credentials had changed.
        var droppedParts = 0
    }

    let pauses = Pauses()
    private let counts = Locked(Counts())

    /// Whether the call started over because of a response that couldn't be used.
    var hasRestarted: Bool { counts.withLock(\.restarts) > 0 }

    func noteDroppedPart() { counts.withLock { $0.droppedParts += 1 } }

    /// Whether the download needs another request immediately.
    func continues(after error: TargetKitError, in exchanges: CallExchanges) -> Bool {
        if exchanges.isInterrupted { return false }
        // The exchange ended because the call was paused.
        if pauses.hasPaused { return true }
        return counts.withLock { counts in
            switch error.underlying as? DownloadFailure {
            case .mustRestart:
                counts.restarts += 1
                return counts.restarts <= Self.restartLimit
            case .isIncomplete(let receivedByteCount):
                if receivedByteCount < Self.shortRange { counts.shortRanges += 1 }
                // The next request must be able to use the stored bytes.
                return counts.droppedParts <= Self.restartLimit && counts.shortRanges <= Self.shortRangeLimit
            case .fileExists, nil: return false
            }
        }
    }
}

extension RequestContext {
    /// The counts of the call's download.
    fileprivate var downloadResumptions: DownloadResumptions {
        if let known = self[DownloadResumptionsKey.self] { return known }
        let new = DownloadResumptions()
        self[DownloadResumptionsKey.self] = new
        return new
    }
}

private enum DownloadResumptionsKey: RequestContextKey { typealias Value = DownloadResumptions }
