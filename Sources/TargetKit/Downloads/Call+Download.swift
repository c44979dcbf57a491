// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Call {
    /// The number of bytes that a transport may hold until they are written. They are lost when the process is killed.
    private static let buffer = 64 << 10

    /// Downloads the response to a file. An existing file is replaced only if the target accepts the response.
    func download(
        _ request: TransportRequest,
        to destination: DownloadDestination,
        from target: Resolved
    ) async throws -> ExchangeResult {
        let download = PendingDownload(to: destination)
        var request = request
        request.destination = .file(download.part)
        let result = try await transfer(request, to: target)
        try checkCancellation()
        return try await cancellable { [validation = context.target.validation, handle] in
            try await download.end(result, validation, of: handle)
        }
    }

    /// Downloads the response to a part that stays if the call fails; returns `nil` if the transport cannot.
    func download(
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

    /// Opens the part of a download that can be continued; returns `nil` for another one.
    func resumableDownload(
        _ prepared: TransportRequest,
        to target: Resolved,
        _ context: RequestContext
    ) -> ResumableDownload? {
        guard prepared.download?.isResumable == true else { return nil }
        return ResumableDownload(prepared, by: DownloadRequester(prepared.urlRequest, context), in: context)
    }

    /// Requests a segment of the file that a call is downloading, in an exchange of its own. If it fails, the next
    /// attempt of the call requests the rest of the segment.
    ///
    /// - Parameter stored: What plugins had stored before the exchange of the call.
    func requestSegment(
        _ download: ResumableDownload,
        _ prepared: TransportRequest,
        from target: Resolved,
        _ stored: [StoredEntry]
    ) async {
        let call = Call(
            configuration,
            plugins: plugins,
            context: context.ofExchange(RequestHandle(deadline: handle.deadline), stored: stored),
            isSharedExchange: true,
            exchangeTimeout: exchangeTimeout
        )
        var (context, request) = (call.context, prepared)
        request.progress = nil
        context.scope.beginExchange()
        _ = try? await call.exchange(request, with: target, download, &context)
        call.handle.releaseAtEnd()
        context.scope.endExchange()
    }
}

extension Call {
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

/// The attempts of a call that a resumable download makes by itself, without asking plugins.
struct DownloadResumptions {
    /// The number of times that a call begins again.
    private static let restartLimit = 2
    /// A server that divides a range into shorter parts makes too little progress.
    private static let shortRange: Int64 = 64 << 10
    /// The number of such parts.
    private static let shortRangeLimit = 100

    /// `nil` for a call that is not a resumable download.
    private let handle: RequestHandle?
    let canPause: Bool
    private var restarts = 0
    private var shortRanges = 0
    private var pauses = 0

    init(of destination: DownloadDestination?, in call: Call) {
        handle = destination?.isResumable == true ? call.handle : nil
        canPause = handle != nil && !call.isShared && !call.isSharedExchange
    }

    /// Waits before an attempt while the call is paused.
    mutating func waitWhilePaused() async throws {
        guard let handle else { return }
        handle.setPausing(isPossible: true)
        // A later pause ends the exchange.
        pauses = await handle.waitWhilePaused()
        if handle.interruption != nil { throw CancellationError() }
    }

    /// Whether the download needs another attempt, at once.
    mutating func continues(after result: Result<Response, TargetKitError>) -> Bool {
        guard let handle, handle.interruption == nil, case .failure(let error) = result else { return false }
        // The exchange ended because the call was paused.
        if handle.pauseCount > pauses { return true }
        switch error.underlying as? DownloadFailure {
        case .mustRestart:
            restarts += 1
            return restarts <= Self.restartLimit
        case .isIncomplete(let receivedByteCount):
            if receivedByteCount < Self.shortRange { shortRanges += 1 }
            // What one attempt has stored must be of use to the next one.
            let isUseful = handle.state.withLock(\.droppedPartCount) <= Self.restartLimit
            return isUseful && shortRanges <= Self.shortRangeLimit
        case .fileExists, nil: return false
        }
    }
}
