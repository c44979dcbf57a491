// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import Foundation

/// Performs exchanges in a background session of the system, which continues while the app is suspended or not running.
///
/// ```swift
/// let transport = BackgroundTransport(identifier: "com.example.shop.media")
/// let queue = try TransferQueue(Provider<Media>(transport: transport), storedIn: file)
///
/// func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
///                  completionHandler: @escaping () -> Void) {
///     transport.handleEvents(completion: completionHandler)
/// }
/// ```
///
/// The response of an exchange that ends while the app is not running is kept until a request with the same method, URL
/// and body is sent, for example by a queue of transfers after a launch. Create the transport once for an
/// identifier, at every launch.
///
/// - A body is sent from a file; bytes and streams are written to one first. A response cannot be streamed.
/// - The system follows redirects, and repeats and continues exchanges by its own rules. A cancelled download is
///   continued by the next call for the same request if the server supports it.
/// - A request's timeout is that of the whole transfer, in which the app need not be running.
public final class BackgroundTransport: Transport {
    private let delegate: BackgroundDelegate
    private let session: URLSession
    private let responses: BackgroundResponses

    /// Creates the transport of a background session.
    ///
    /// - Parameters:
    ///   - identifier: Identifies the session; only one transport of the app and its extensions may have it.
    ///   - tls: The TLS policy; default: the system's.
    ///   - configure: Changes the configuration, for example `isDiscretionary` or `sharedContainerIdentifier`; default:
    ///     leaves it.
    public init(
        identifier: String,
        tls: TLSPolicy = .system,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.tlsMinimumSupportedProtocolVersion = tls.requiresTLS13 ? .TLSv13 : .TLSv12
        configure(configuration)
        let manager = FileManager.default
        let support = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        let folder = (support ?? manager.temporaryDirectory)
            .appendingPathComponent(
                "TargetKit.background/\(MessageDigest.sha256.hexadecimal(of: identifier).prefix(16))"
            )
        responses = BackgroundResponses(in: folder)
        responses.removeOld()
        delegate = BackgroundDelegate(responses, tls)
        let callbacks = OperationQueue()
        callbacks.maxConcurrentOperationCount = 1
        callbacks.name = "TargetKit.BackgroundTransport"
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    /// Stores the completion handler that the system passes to the app delegate, and calls it on the main actor when all
    /// events of the session have been delivered.
    public func handleEvents(completion: @escaping @MainActor () -> Void) {
        delegate.setCompletion(completion)
    }

    /// Performs one exchange, or returns the response of one that ended while the app was not running.
    ///
    /// - Throws: A `URLError`; `.unsupportedURL` for a response that is to be streamed, and for a second exchange with the
    ///   same request at the same time.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let call = try URLSessionCall(request, idleTimeout: URLSessionCall.longestTimeout, streaming: .paced)
        if case .stream = request.destination {
            let words = "a background session cannot stream a response"
            let info: [String: Any] = [NSLocalizedDescriptionKey: words, FailureMark.cannotStream: true]
            throw URLError(.unsupportedURL, userInfo: info)
        }
        let key = try BackgroundResponses.key(of: request)
        let body = try self.body(of: request, key)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let exchange = BackgroundDelegate.Exchange(
                    url: call.url,
                    destination: request.destination,
                    progress: request.progress,
                    continuation: continuation
                )
                guard delegate.add(exchange, key) else {
                    let words = "another call with the same request is in progress"
                    return continuation.resume(throwing: URLSessionFailure.error(.unsupportedURL, words, for: call.url))
                }
                var urlRequest = call.request
                if let timeout = request.timeout { urlRequest.timeoutInterval = timeout / .seconds(1) }
                begin(key, urlRequest, body)
            }
        } onCancel: {
            delegate.cancel(key, in: session)
        }
    }

    /// The file of the request's body; `nil` if it has none.
    private func body(of request: TransportRequest, _ key: String) throws -> URL? {
        switch request.body {
        case .none: return nil
        case .file(let url): return url
        case .data, .stream:
            let file = responses.file("request", of: key)
            do {
                let part = try PartialFile(replacing: file)
                try request.body.source()?.readAll { try part.append($0) }
                try part.move(to: file)
            } catch let failure as PartialFile.Failure {
                throw URLError(failure)
            }
            return file
        }
    }

    /// Joins the task of an earlier launch, takes its response, or begins a task.
    private func begin(_ key: String, _ request: URLRequest, _ body: URL?) {
        session.getAllTasks { [delegate, session, responses] tasks in
            let running = tasks.first { $0.taskDescription == key && $0.state != .completed && $0.state != .canceling }
            if let running { return delegate.attach(running, key) }
            guard delegate.isWaiting(key), !delegate.deliver(key) else { return }
            let resumption = responses.file("resume", of: key)
            let task: URLSessionTask
            if let body {
                task = session.uploadTask(with: request, fromFile: body)
            } else if let data = try? Data(contentsOf: resumption) {
                unlink(resumption.path)
                task = session.downloadTask(withResumeData: data)
            } else {
                task = session.downloadTask(with: request)
            }
            task.taskDescription = key
            delegate.attach(task, key)
            task.resume()
        }
    }
}

/// Receives the events of a background session. A task is found by its description, which outlives the process.
private final class BackgroundDelegate: NSObject, Sendable {
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
        let count = descriptor < 0 ? -1 : data.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count != data.count { fail(key, PartialFile.failure(.cannotWriteToFile, body)) }
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
