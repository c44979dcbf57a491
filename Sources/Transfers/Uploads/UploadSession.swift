// SPDX-License-Identifier: MIT
import TargetKit

/// The resumable upload of one call. It determines the next request, and processes each response.
final class UploadSession: Sendable {
    /// The action after the response to a step.
    enum Decision: Sendable {
        /// Send another step without consulting plugins.
        case next
        /// End the attempt with the result, unless a plugin requests another attempt.
        case end
    }

    struct State: Sendable {
        var phase: UploadStep.Kind
        /// The upload that is continued; `nil` until it is created.
        var record: UploadRecord?
        /// The upload of an older version of the content.
        var oldRecord: UploadRecord?
        var support = UploadSupport()
        var limits = UploadLimits()
        /// The number of bytes that the server has.
        var offset: Int64 = 0
        var decision = Decision.end
        var restarts = 0
        var stalls = 0
        /// The number of requests of which the server stored only a short part.
        var shortParts = 0
        var damages = 0
        /// Whether all bytes have been sent, so that the upload can be complete without a response.
        var mayBeComplete = false
        /// Whether the first request has no content, because a response is needed before the content is sent.
        var isCareful: Bool
        /// The last request that created or continued the upload.
        var lastRequest: URLRequest?
        /// Whether the server has the whole content, and the last response is the caller's.
        var isComplete = false
        /// The server's error response to the request that completes the upload.
        var rejection: ExchangeResult?
        /// The request that the server processed and rejected. Another attempt sends the content again.
        var processedRequest: URLRequest?
    }

    let upload: ResumableUpload
    let original: URLRequest
    let content: UploadContent
    /// The exchanges of the first attempt.
    let exchanges: CallExchanges
    let pauses = Pauses()
    let store: UploadStore
    /// The SHA-256 digest of the content's version.
    let version: String
    let state: Locked<State>

    var length: Int64 { content.length }
    var isTus: Bool { upload.uploadProtocol == .tus }

    /// Opens the state of the upload. The caller must end the session.
    init(
        _ upload: ResumableUpload,
        of original: URLRequest,
        over exchanges: CallExchanges
    ) async throws {
        try upload.check()
        let content = try UploadContent(exchanges.task.content, data: original.httpBody)
        self.upload = upload
        self.original = original
        self.content = content
        self.exchanges = exchanges
        let (name, version) = await Self.identity(of: upload, original: original, content: content)
        self.version = version
        store = try await UploadStore.open(name, in: upload.folder)
        let isCareful =
            upload.uploadProtocol == .http && content.length > 0
            && (!exchanges.transport.reportsInterimResponses
                || upload.chunkSize.map { content.length > Int64($0) } == true)
        var state = State(phase: Self.firstPhase(of: upload, isCareful: isCareful), isCareful: isCareful)
        let given = upload.url.map {
            UploadRecord(givenAt: $0, for: original, content: version, length: content.length)
        }
        state.record = given
        if let record = await store.read() {
            if record.content == version, record.length == content.length {
                state.record = record
                state.support.checksum = record.checksum
                state.limits.maxAppendSize = record.maxAppendSize
                state.limits.minAppendSize = record.minAppendSize
                state.phase = .query
            } else if given != nil {
                await store.end()
                throw UploadFailure.lost("it has bytes of another version of the content")
            } else {
                state.oldRecord = record
                state.phase = .delete
            }
        }
        self.state = Locked(state)
        if let given, state.record == given { await store.write(given) }
    }

    /// The record of an upload whose URL the caller knows; otherwise `nil`.
    var givenRecord: UploadRecord? {
        upload.url.map { UploadRecord(givenAt: $0, for: original, content: version, length: length) }
    }

    /// Whether the next request is safe to send, even if the server processed the last one.
    var isRepeatable: Bool { transferState.isRepeatable == true }

    /// The state that the session reports to plugins that retry.
    var transferState: TransferState {
        state.withLock { state in
            let isRepeatable: Bool? =
                if let request = state.processedRequest { request.isRepeatable() } else {
                    switch state.phase {
                    case .plain: nil
                    case .create: isTus || state.isCareful ? true : nil
                    case .discover, .delete, .query, .append: true
                    }
                }
            return TransferState(isRepeatable: isRepeatable, continuedByteCount: state.offset)
        }
    }

    /// Whether a step is the target's request itself.
    func isOneRequest(_ step: UploadStep) -> Bool { step.kind == .create && !isTus && step.isCompleting }

    /// Whether the upload needs another request immediately.
    func continues(afterFailure hasFailed: Bool) -> Bool {
        if exchanges.isInterrupted { return false }
        if state.withLock(\.decision) == .next { return true }
        // The exchange ended because the call was paused.
        return hasFailed && pauses.hasPaused && isRepeatable
    }

    /// Ends the session.
    ///
    /// - Returns: The request that deletes the upload; `nil` if none is to be sent.
    func end(isCancelled: Bool) async -> URLRequest? {
        var deletion: URLRequest?
        if isCancelled, upload.isTerminatedOnCancel {
            let (record, request) = state.withLock { ($0.record, $0.lastRequest) }
            if let record {
                await store.remove()
                deletion = deletionRequest(of: record, like: request)
            }
        }
        await store.end()
        return deletion
    }
}

// MARK: - The steps

extension UploadSession {
    /// The next request, after waiting while the call is paused.
    func nextStep() async throws -> UploadStep {
        pauses.setPossible(true, over: exchanges)
        try await pauses.wait(over: exchanges)
        let state = state.withLock { state in
            state.decision = .end
            state.isComplete = false
            state.processedRequest = nil
            return state
        }
        switch state.phase {
        case .discover: return discovery()
        case .delete: return deletion(state)
        case .create: return creation(state)
        case .query: return query(state)
        case .append: return try await append(state)
        case .plain: return UploadStep(kind: .plain, request: original, body: nil, isCompleting: true, session: self)
        }
    }

    private func discovery() -> UploadStep {
        var step = UploadStep(kind: .discover, request: request(method: "OPTIONS", url: original.url), session: self)
        if !isTus { step.fields = interopFields }
        return step
    }

    private func deletion(_ state: State) -> UploadStep {
        step(.delete, method: "DELETE", to: state.oldRecord)
    }

    private func creation(_ state: State) -> UploadStep {
        guard isTus else { return httpCreation(state) }
        var step = UploadStep(kind: .create, request: request(method: "POST", url: original.url), session: self)
        step.fields = ["Tus-Resumable": TusUpload.version, "Upload-Length": "\(length)"]
        if let metadata = upload.metadataField { step.fields[.uploadMetadata] = metadata }
        let limit = min(TusUpload.creationSize, upload.chunkSize.map(Int64.init) ?? .max)
        if state.support.createsWithContent, state.support.checksum == nil, (1...limit).contains(length) {
            step.fields[.contentType] = TusUpload.contentType
            setContent(0..<length, of: &step)
            step.isCompleting = true
        }
        return step
    }

    private func httpCreation(_ state: State) -> UploadStep {
        var step = UploadStep(kind: .create, request: original, session: self)
        step.fields = interopFields
        step.fields[.uploadLength] = "\(length)"
        step.fields[.uploadComplete] = state.isCareful ? "?0" : "?1"
        if state.isCareful {
            step.request.httpBody = nil
        } else {
            setContent(0..<length, of: &step)
            step.isCompleting = true
        }
        return step
    }

    private func query(_ state: State) -> UploadStep {
        step(.query, method: "HEAD", to: state.record)
    }

    private func append(_ state: State) async throws -> UploadStep {
        var step = step(.append, method: "PATCH", to: state.record)
        let end = min(length, state.offset + chunkSize(state))
        step.isCompleting = end == length
        setContent(state.offset..<end, of: &step)
        step.fields[.uploadOffset] = "\(state.offset)"
        step.fields[.contentType] = isTus ? TusUpload.contentType : HTTPUpload.contentType
        if !isTus {
            step.fields[.uploadComplete] = step.isCompleting ? "?1" : "?0"
        } else if let checksum = state.support.checksum {
            let part = content.part(state.offset..<end)
            step.fields[.uploadChecksum] = try await DispatchQueue(label: "TargetKit.upload").run {
                Result { try checksum.field(of: part) }
            }.get()
        }
        return step
    }

    private func chunkSize(_ state: State) -> Int64 {
        var size = upload.chunkSize.map(Int64.init) ?? .max
        if upload.chunkSize == nil, state.support.checksum != nil { size = TusUpload.checkedChunkSize }
        if let limit = state.limits.minAppendSize { size = max(size, limit) }
        if let limit = state.limits.maxAppendSize, limit > 0 { size = min(size, limit) }
        // Prevents overflow when it is added to an offset.
        return min(size, length)
    }

    private func setContent(_ range: Range<Int64>, of step: inout UploadStep) {
        let body = content.part(range)
        step.range = range
        step.body = body
        step.request.httpBody = nil
        if case .data(let data) = body { step.request.httpBody = data }
    }

    /// A request to the URL of an upload.
    private func step(_ kind: UploadStep.Kind, method: String, to record: UploadRecord?) -> UploadStep {
        var step = UploadStep(kind: kind, request: request(method: method, url: record?.url), session: self)
        step.fields = isTus ? ["Tus-Resumable": TusUpload.version] : interopFields
        if let record {
            let origin = record.url.origin
            step.isCrossOrigin = origin != record.origin && origin != original.url?.origin
        }
        return step
    }

    private var interopFields: HTTPHeaders { ["Upload-Draft-Interop-Version": HTTPUpload.interopVersion] }

    /// The target's request with another method and URL, and without its body.
    private func request(method: String, url: URL?) -> URLRequest {
        var request = original
        request.url = url
        request.httpMethod = method
        request.httpBody = nil
        request.allHTTPHeaderFields = original.allHTTPHeaderFields?.filter {
            !$0.key.lowercased().hasPrefix("content-")
        }
        return request
    }

    private func deletionRequest(of record: UploadRecord, like last: URLRequest?) -> URLRequest? {
        // Its credentials are for its own server.
        guard var request = last, request.url?.origin == record.url.origin else { return nil }
        request.url = record.url
        request.httpMethod = "DELETE"
        request.httpBody = nil
        request.allHTTPHeaderFields = last?.allHTTPHeaderFields?.filter { name, _ in
            let name = name.lowercased()
            return !name.hasPrefix("content-") && !name.hasPrefix("upload-") || name == "upload-draft-interop-version"
        }
        return request
    }
}
