// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import Foundation

/// Receives the events of a background session. A task is found by its description, which outlives the process.
final class BackgroundDelegate: NSObject, Sendable {
    struct Exchange: Sendable {
        let url: URL
        let destination: TransportRequest.Destination
        let progress: (@Sendable (TransferProgress) -> Void)?
        let continuation: CheckedContinuation<TransportResponse, any Error>
        /// The identifier of the task, once it is known. A task that was cancelled before has the same key.
        var task: Int?
    }

    private struct State: Sendable {
        var exchanges: [String: Exchange] = [:]
        /// The failure to store a response.
        var failures: [String: URLError] = [:]
        var completion: (@MainActor @Sendable () -> Void)?
    }

    private let responses: BackgroundResponses
    private let trust: URLSessionTrust
    private let state = Locked(State())

    init(_ responses: BackgroundResponses, _ tls: TLSPolicy) {
        self.responses = responses
        trust = URLSessionTrust(policy: tls)
    }

    func setCompletion(_ completion: @escaping @MainActor () -> Void) {
        state.withLock { $0.completion = completion }
    }

    /// Adds the exchange for a key; returns `false` if there is one.
    func add(_ exchange: Exchange, _ key: String) -> Bool {
        state.withLock { state in
            guard state.exchanges[key] == nil else { return false }
            state.exchanges[key] = exchange
            return true
        }
    }

    func attach(_ task: URLSessionTask, _ key: String) {
        state.withLock { $0.exchanges[key]?.task = task.taskIdentifier }
    }

    func isWaiting(_ key: String) -> Bool { state.withLock { $0.exchanges[key] != nil } }

    func cancel(_ key: String, in session: URLSession) {
        end(key, with: .failure(CancellationError()))
        session.getAllTasks { [responses] tasks in
            for task in tasks where task.taskDescription == key {
                guard let download = task as? URLSessionDownloadTask else {
                    task.cancel()
                    continue
                }
                download.cancel { data in
                    if let data { try? AtomicFile(responses.file("resume", of: key)).write(data) }
                }
            }
        }
    }

    /// Passes a stored response to the exchange that waits for it; returns `false` if there is no response.
    func deliver(_ key: String) -> Bool {
        guard let exchange = state.withLock({ $0.exchanges[key] }) else { return false }
        do {
            guard let response = try responses.take(key, to: exchange.destination) else { return false }
            end(key, with: .success(response))
        } catch {
            end(key, with: .failure(error))
        }
        return true
    }

    private func end(_ key: String, with result: Result<TransportResponse, any Error>) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: key) }
        exchange?.continuation.resume(with: result)
    }

    private func report(_ task: URLSessionTask, _ count: Int64, _ total: Int64, _ direction: TransferProgress.Direction)
    {
        let exchange = state.withLock { state in task.taskDescription.flatMap { state.exchanges[$0] } }
        let progress = TransferProgress(completed: count, total: total > 0 ? total : nil, direction: direction)
        exchange?.progress?(progress)
    }

    private func fail(_ key: String, _ failure: PartialFile.Failure) {
        state.withLock { $0.failures[key] = URLError(failure) }
    }
}

extension BackgroundDelegate: URLSessionDownloadDelegate, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let key = downloadTask.taskDescription else { return }
        // The system removes the file when this returns.
        let body = responses.file("body", of: key)
        do throws(PartialFile.Failure) {
            if rename(location.path, body.path) != 0 { try PartialFile.copy(location, to: body) }
        } catch {
            fail(key, error)
        }
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        report(downloadTask, totalBytesWritten, totalBytesExpectedToWrite, .download)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let key = dataTask.taskDescription else { return }
        let body = responses.file("body", of: key)
        let descriptor = open(body.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 || !PartialFile.write(data, to: descriptor) {
            fail(key, PartialFile.failure(.cannotWriteToFile, body))
        }
        if descriptor >= 0 { close(descriptor) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        report(task, totalBytesSent, totalBytesExpectedToSend, .upload)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let key = task.taskDescription else { return }
        let isFormer = state.withLock { state in
            state.exchanges[key].map { $0.task != nil && $0.task != task.taskIdentifier } ?? false
        }
        if isFormer { return }
        unlink(responses.file("request", of: key).path)
        let failure = state.withLock { $0.failures.removeValue(forKey: key) }
        let url = task.originalRequest?.url ?? URL(filePath: "/")
        guard error == nil, failure == nil, let response = task.response as? HTTPURLResponse else {
            unlink(responses.file("body", of: key).path)
            keepResumption(after: error, key)
            let error: any Error =
                error.map { URLSessionFailure.error($0, hasHead: task.response != nil, for: url) }
                ?? failure ?? URLError(.badServerResponse)
            return end(key, with: .failure(error))
        }
        do {
            try responses.store(ResponseHead(response), of: key)
        } catch {
            responses.remove(key)
            return end(key, with: .failure(URLError(.cannotWriteToFile)))
        }
        _ = deliver(key)
    }

    private func keepResumption(after error: (any Error)?, _ key: String) {
        guard let data = (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data else { return }
        try? AtomicFile(responses.file("resume", of: key)).write(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let url = task.originalRequest?.url ?? URL(filePath: "/")
        trust.answer(challenge, for: url) { answer in
            if let failure = answer.failure, let key = task.taskDescription { self.end(key, with: .failure(failure)) }
            completionHandler(answer.disposition, answer.credential)
        }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            return state.completion
        }
        guard let completion else { return }
        Task { @MainActor in completion() }
    }
}
#endif
