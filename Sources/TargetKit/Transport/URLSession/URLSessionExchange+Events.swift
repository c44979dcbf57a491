// SPDX-License-Identifier: MIT

/// The events of an exchange's task.
extension URLSessionExchange {
    /// Receives a head. Interim heads (RFC 9110 §15.2) are ignored.
    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let isInterim = (100..<200).contains(response.statusCode) && response.statusCode != 101
        guard !isInterim else { return }
        let total = call.expectsBody ? response.declaredBodyLength : 0
        let head = ResponseHead(response)
        state.withLock { state in
            state.head = head
            state.download.total = total
        }
        if let limit = call.bodyWriter.limit, let total, total > limit {
            return fail(.overLimit(limit))
        }
        deliver(head)
    }

    /// Receives decoded bytes of the response's body.
    func receive(_ data: Data) {
        let written = write(data)
        endWriting()
        switch written {
        case .success(let reports): for report in reports { call.progress?(report) }
        case .failure(let error): fail(error)
        }
    }

    /// Resumes the caller if the exchange ended during a write.
    private func endWriting() {
        let (continuation, outcome) = state.withLock { state in
            state.isWriting = false
            return (state.outcome == nil ? nil : state.continuation.take(), state.outcome.take())
        }
        if let outcome { continuation?.resume(with: outcome) }
    }

    /// Writes the bytes and returns the progress to report, of the download only after that of the upload.
    private func write(_ data: Data) -> Result<[TransferProgress], TransportFailure> {
        guard var bodyWriter = takeBodyWriter() else { return .success([]) }
        do {
            try checkExpansion(adding: data.count)
            if try !bodyWriter.append(data) { updateSuspension() }
        } catch {
            return .failure(error)
        }
        let isReporting = call.progress != nil
        let reports = state.withLock { [bodyWriter] state -> [TransferProgress] in
            guard !state.isSettled else { return [] }
            state.bodyWriter = bodyWriter
            state.isWriting = false
            state.download.completed += Int64(data.count)
            guard isReporting else { return [] }
            var upload: TransferProgress?
            if state.body.isPresent, !state.upload.isComplete {
                // The system can report sent bytes late.
                if let length = state.body.length, state.upload.completed < length { return [] }
                upload = state.upload.finalReport(total: state.body.length)
            }
            return [upload, state.download.reportIfDue()].compactMap(\.self)
        }
        return .success(reports)
    }

    /// Checks the size of a decoded body in memory. URLSession passes on decoded bytes only.
    private func checkExpansion(adding count: Int) throws(TransportFailure) {
        guard let limit = call.expansionLimit else { return }
        let (head, decoded) = state.withLock { ($0.head, $0.download.completed + Int64(count)) }
        guard let headers = head?.headers, !headers.isUncoded else { return }
        // On Linux, the task counts decoded bytes, so there is no limit without a length.
        let received = headers.contentLength ?? state.withLock { $0.task?.countOfBytesReceived } ?? .max
        if let failure = limit.failure(decoded, of: received) { throw .quotable(.dataLengthExceedsMaximum, failure) }
    }

    /// Moves the body writer out of the state. A second reference would cause a copy of its bytes for each chunk.
    private func takeBodyWriter() -> URLSessionBodyWriter? {
        state.withLock { state in
            state.isWriting = state.bodyWriter != nil
            return state.bodyWriter.take()
        }
    }

    /// Counts the sent bytes of the request's body.
    func addSent(_ count: Int64) {
        let isReporting = call.progress != nil
        let report = state.withLock { state -> TransferProgress? in
            guard !state.isSettled else { return nil }
            state.upload.completed += count
            if state.upload.total == nil { state.upload.total = state.body.length }
            return isReporting ? state.upload.reportIfDue() : nil
        }
        if let report { call.progress?(report) }
    }

    func keep(_ metrics: TransportMetrics) {
        state.withLock { $0.metrics = Boxed(metrics) }
    }

    /// Ends the exchange after its task ended.
    func complete(response: URLResponse?, error: (any Error)?) {
        let (isSettled, known, metrics) = state.withLock { ($0.isSettled, $0.head, $0.metrics) }
        guard !isSettled else { return }
        if let error {
            return settle(.failure(Self.error(error, hasHead: known != nil)))
        }
        do throws(TransportFailure) {
            try checkLength()
            // On Linux, only the task has the head of a redirect without `Location`.
            guard var head = known ?? (response as? HTTPURLResponse).map({ ResponseHead($0) }) else {
                throw TransportFailure(.badServerResponse, message: "the response has no head")
            }
            if let metrics { head.httpVersion = metrics.value.httpVersion }
            deliver(head)
            try finish(head, metrics: metrics?.value)
        } catch {
            fail(error)
        }
    }

    /// Compares the received bytes with the declared length, which Foundation doesn't do for every connection.
    private func checkLength() throws(TransportFailure) {
        let (completed, total) = state.withLock { ($0.download.completed, $0.download.total) }
        guard let total, completed < total else { return }
        let words = "the connection was closed after \(completed) of \(total) bytes"
        throw TransportFailure(.networkConnectionLost, message: words)
    }

    /// Ends the exchange with its response.
    private func finish(_ head: ResponseHead, metrics: TransportMetrics?) throws(TransportFailure) {
        guard let bodyWriter = takeBodyWriter() else { return }
        defer { endWriting() }
        let body = try bodyWriter.finish()
        reportEnd()
        settle(.success(TransportResponse(head: head, body: body, metrics: metrics)))
    }

    /// The error for the caller if the task ended with an error.
    private static func error(_ error: any Error, hasHead: Bool) -> any Error {
        #if canImport(FoundationNetworking)
        // Foundation on Linux reports most of libcurl's results as `.unknown`, and responses that aren't HTTP as
        // `.unsupportedURL`.
        let vague: [URLError.Code] = hasHead ? [.unknown] : [.unknown, .unsupportedURL, .badServerResponse]
        if let error = error as? URLError, vague.contains(error.code) {
            return URLError(.networkConnectionLost, userInfo: error.userInfo).redacted
        }
        #endif
        return error.redacted
    }

    private func reportEnd() {
        guard let progress = call.progress else { return }
        let reports = state.withLock { state -> [TransferProgress] in
            if state.isSettled { return [] }
            let upload = state.body.isPresent ? state.upload.finalReport(total: state.body.length) : nil
            return [upload, state.download.finalReport(total: state.download.completed)].compactMap(\.self)
        }
        reports.forEach(progress)
    }
}
