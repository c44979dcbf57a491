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

    /// Stores the completion handler that the system passes to the app delegate, and calls it on the main actor when
    /// all events of the session have been delivered.
    public func handleEvents(completion: @escaping @MainActor () -> Void) {
        delegate.setCompletion(completion)
    }

    /// Performs one exchange, or returns the response of one that ended while the app was not running.
    ///
    /// - Throws: A `URLError`; `.unsupportedURL` for a response that is to be streamed, and for a second exchange with
    ///   the same request at the same time.
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
#endif
