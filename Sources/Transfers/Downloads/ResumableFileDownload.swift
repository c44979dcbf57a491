// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads the response of a call to a file, and continues what earlier attempts and calls have stored.
struct ResumableFileDownload: TransferDriver {
    let destination: DownloadDestination
    /// How many ranges are requested at the same time.
    let maxSegments: Int

    func response(to request: URLRequest, over exchanges: CallExchanges) async throws -> Response {
        let call = exchanges.call
        if call.delivery.isStream { throw InvalidRequest.streamedDownload }
        try DownloadPlace(destination).check()
        let resumptions = exchanges.context.downloadResumptions
        while true {
            if !call.isShared, !call.isSharedExchange { try await resumptions.waitWhilePaused(call.handle) }
            let prepared = try await exchanges.prepare(request)
            do {
                return try await sendRest(prepared, over: exchanges, resumptions)
            } catch let error as TargetKitError {
                guard error.stage != .request, resumptions.continues(after: error, call.handle) else { throw error }
                call.handle.revokeCommit()
            }
        }
    }

    /// Requests what is not stored yet.
    private func sendRest(
        _ prepared: TransportRequest,
        over exchanges: CallExchanges,
        _ resumptions: DownloadResumptions
    ) async throws -> Response {
        let (context, target) = (exchanges.context, exchanges.target)
        guard let download = ResumableDownload(prepared, of: self, in: context) else {
            exchanges.call.handle.setPausing(isPossible: false)
            return try await exchanges.send(prepared, to: destination)
        }
        if download.hasDroppedOwnPart { resumptions.noteDroppedPart() }
        // A segment is a request of its own, with what plugins have stored for its preparation.
        let others = exchanges.concurrent()
        defer { download.end() }
        var request = prepared
        download.addFields(to: &request.urlRequest)
        return try await exchanges.send(request) { call, request in
            var request = request
            request.onSend = { download.note(sent: $0) }
            defer {
                if let count = download.storedByteCount { context.transfer = TransferState(continuedByteCount: count) }
                if let part = download.partIdentifier { context[PartKey.self] = part }
            }
            let result = try await call.download(request, with: download, from: target) { segment in
                await others.requestSegment(segment, prepared)
            }
            guard let result else { return try await call.download(request, to: self.destination, from: target) }
            let validation = call.context.target.validation
            return try call.response(result, validation.ofDownload)
        }
    }
}

extension CallExchanges {
    /// Requests a segment of the file that the call is downloading. If that fails, the next attempt requests the rest of
    /// the segment.
    fileprivate func requestSegment(_ download: ResumableDownload, _ prepared: TransportRequest) async {
        var request = prepared
        download.addFields(to: &request.urlRequest)
        _ = try? await send(request) { [target] call, request in
            var request = request
            request.onSend = { download.note(sent: $0) }
            let result = try await call.download(request, with: download, from: target) { _ in }
            // A segment that the transport cannot stream was not requested.
            return try call.response(result ?? { throw URLError(.cannotParseResponse) }(), .successCodes)
        }
    }
}

extension Call {
    /// The number of bytes that a transport may hold until they are written. They are lost when the process is killed.
    private static let buffer = 64 << 10

    /// Downloads the response to a part that stays if the call fails; returns `nil` if the transport cannot.
    fileprivate func download(
        _ request: TransportRequest,
        with download: ResumableDownload,
        from target: Resolved,
        segment: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws -> ExchangeResult? {
        var request = request
        let progress = request.progress
        request.destination = .stream(buffer: Self.buffer)
        // What has arrived is reported when it is stored.
        if let progress {
            request.progress = { step in if step.direction == .upload { progress(step) } }
        }
        do {
            return try await pausable { [request] in
                try await self.transfer(request, to: target) { result in
                    try await self.store(result, in: download, progress, others: segment)
                }
            }
        } catch let error as URLError where error.userInfo[FailureMark.cannotStream] != nil {
            try download.abandon()
            handle.setPausing(isPossible: false)
            return nil
        }
    }

    private func store(
        _ result: ExchangeResult,
        in download: ResumableDownload,
        _ progress: (@Sendable (TransferProgress) -> Void)?,
        others: @escaping @Sendable (ResumableDownload) async -> Void
    ) async throws -> ExchangeResult {
        guard case .stream(let body) = result.response.body else { throw URLError(.cannotParseResponse) }
        let isAccepted = context.target.validation.acceptsFile(result.response.head.statusCode)
        return try await cancellable {
            try await download.store(result, body, isAccepted: isAccepted, progress: progress, others: others)
        }
    }
}

extension Provider {
    /// Removes what an interrupted download of a target has stored, unless a call is using it. Does nothing for other
    /// targets, and if plugins change the URL of a download whose file the server names.
    package func removePart(of target: Target) {
        guard let endpoint = try? endpointClosure(target), let destination = endpoint.task.download,
            destination.isResumable, let url = try? endpoint.urlRequest().url
        else { return }
        let place = DownloadPlace(destination).part(for: url)
        guard FileStatus(of: place, followsLinks: false) != nil else { return }
        DownloadPart.open(place, permissions: nil)?.remove()
    }
}

/// The requests that a resumable download makes by itself, without asking plugins. They are counted for the whole call.
final class DownloadResumptions: Sendable {
    /// The number of times that a call begins again.
    private static let restartLimit = 2
    /// A server that divides a range into shorter parts makes too little progress.
    private static let shortRange: Int64 = 64 << 10
    /// The number of such parts.
    private static let shortRangeLimit = 100

    private struct Counts: Sendable {
        var restarts = 0
        var shortRanges = 0
        var pauses = 0
        /// How often the call has dropped what it had stored, because its credentials have changed.
        var droppedParts = 0
    }

    private let counts = Locked(Counts())

    func noteDroppedPart() { counts.withLock { $0.droppedParts += 1 } }

    /// Waits before a request while the call is paused.
    func waitWhilePaused(_ handle: RequestHandle) async throws {
        handle.setPausing(isPossible: true)
        // A later pause ends the exchange.
        let pauses = await handle.waitWhilePaused()
        counts.withLock { $0.pauses = pauses }
        if handle.interruption != nil { throw CancellationError() }
    }

    /// Whether the download needs another request, at once.
    func continues(after error: TargetKitError, _ handle: RequestHandle) -> Bool {
        guard handle.interruption == nil else { return false }
        let pauseCount = handle.pauseCount
        return counts.withLock { counts in
            // The exchange ended because the call was paused.
            if pauseCount > counts.pauses { return true }
            switch error.underlying as? DownloadFailure {
            case .mustRestart:
                counts.restarts += 1
                return counts.restarts <= Self.restartLimit
            case .isIncomplete(let receivedByteCount):
                if receivedByteCount < Self.shortRange { counts.shortRanges += 1 }
                // What one request has stored must be of use to the next one.
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
