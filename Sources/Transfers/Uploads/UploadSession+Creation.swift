// SPDX-License-Identifier: MIT
import TargetKit

extension UploadSession {
    /// Receives an interim response (104) to the request that creates or continues an upload.
    ///
    /// - Returns: The reason to end the exchange, or `nil` to continue it.
    func receiveInterim(_ head: ResponseHead, to step: UploadStep, from url: URL) -> UploadFailure? {
        guard !isTus, head.statusCode == 104 else { return nil }
        let headers = head.headers
        if let version = headers[.uploadInteropVersion], version != HTTPUpload.interopVersion { return nil }
        if case .value(let offset) = headers.number(.uploadOffset, allowsParameters: true), offset <= length {
            state.withLock { $0.offset = max($0.offset, offset) }
        }
        guard step.kind == .create, let location = headers[.location],
            let upload = self.url(location, from: url)
        else { return nil }
        let limits = UploadLimits(headers)
        let record = record(of: upload, limits: limits, maxAge: limits.maxAge, expiry: nil)
        let (failure, isNew) = state.withLock { state -> (UploadFailure?, Bool) in
            if let known = state.record {
                let isSame = known.url == upload
                return (isSame ? nil : .invalidResponse("its interim responses have different upload URLs"), false)
            }
            state.record = record
            state.limits = limits
            return (HTTPUpload.failure(of: limits, length: length), true)
        }
        if failure == nil, isNew {
            store.writeSoon(record)
            pauses.setPossible(true, over: exchanges)
        }
        return failure
    }

    func create(
        _ location: String,
        offset: Int64?,
        limits: UploadLimits,
        expiry: Date?,
        result: ExchangeResult,
        step: UploadStep
    ) async throws {
        guard let from = result.request.url, let url = url(location, from: from) else {
            throw UploadFailure.invalidResponse("its Location isn't an http URL, or leads from https to http")
        }
        if let offset, offset > step.range.upperBound {
            let words = "its Upload-Offset is \(offset) after \(step.range.upperBound) bytes"
            throw UploadFailure.invalidResponse(words)
        }
        if !isTus, let failure = HTTPUpload.failure(of: limits, length: length) { throw failure }
        let isComplete = isTus && (length == 0 || offset == length)
        if isComplete { return await complete() }
        // A limit from an earlier response stays in effect.
        let known = state.withLock { state in
            merge(limits, into: &state)
            return state.limits
        }
        let record = record(of: url, limits: known, maxAge: limits.maxAge, expiry: expiry)
        // Stored before any byte is sent, so that nothing is sent twice.
        await store.write(record)
        state.withLock { state in
            state.record = record
            state.offset = offset ?? 0
            advance(&state, to: offset == nil && !step.range.isEmpty ? .query : .append)
        }
    }

    private func record(of url: URL, limits: UploadLimits, maxAge: Int64?, expiry: Date?) -> UploadRecord {
        // The first server, because it received the credentials, even if it redirected the request.
        let (checksum, lastURL) = state.withLock { ($0.support.checksum, $0.lastRequest?.url) }
        let age = maxAge.map { Date(timeIntervalSinceNow: TimeInterval($0)) }
        return UploadRecord(
            url: url,
            origin: (lastURL ?? original.url)?.origin ?? [],
            owner: exchanges.context.credentialOwner?.identifier,
            content: version,
            length: length,
            checksum: checksum,
            maxAppendSize: limits.maxAppendSize,
            minAppendSize: limits.minAppendSize,
            expiry: (expiry ?? age).map { Int64(min(max(0, $0.timeIntervalSince1970), 1e12)) }
        )
    }

    /// The URL of the upload in the response to the request that created it; `nil` if there is none.
    func createdURL(in headers: HTTPHeaders, of result: ExchangeResult) -> URL? {
        guard let location = headers[.location], let from = result.request.url else { return nil }
        return url(location, from: from)
    }

    /// The URL in a `Location`; `nil` if it can't be used.
    private func url(_ location: String, from source: URL) -> URL? {
        guard let url = URL(location: location, relativeTo: source), url.isCallable else { return nil }
        let isDowngrade = source.scheme?.lowercased() == "https" && url.scheme?.lowercased() == "http"
        if isDowngrade, case .follow(_, allowsDowngrade: true) = exchanges.redirects { return url }
        return isDowngrade ? nil : url
    }
}
