// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import TargetKit
import _TargetKitFiles

/// Performs exchanges in a background `URLSession`, which continues while the app is suspended or not running.
///
/// ```swift
/// let transport = BackgroundTransport(identifier: "com.example.shop.media")
/// let queue = try TransferQueue(Provider<Media>(transport: transport), storedIn: file)
///
/// func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
///                  completionHandler: @escaping () -> Void) {
///     transport.handleEvents(for: identifier, completion: completionHandler)
/// }
/// ```
///
/// If an exchange ends while the app isn't running, its response is stored until the same transfer is requested again,
/// for example by a `TransferQueue` after a launch. A request for a running transfer joins it. A transfer is identified
/// by `CallOptions.transferID`, which the queue sets, or else by method, URL, requested range and body. Set the option
/// for requests that differ at each launch, for example signed URLs, or multipart forms with their random boundary.
/// A request with a credential of an `AuthenticationPlugin` never receives or joins the transfer of another session.
///
/// - At every launch, create one transport for each identifier, and keep a reference to it. Calls of a second transport
///   with the same identifier fail with `.unsupportedURL`.
/// - Bodies are sent from files: bytes and streams are first written to a file. Responses can't be streamed. From iOS 17
///   and macOS 14 on, the system adds the header fields of its own resumable uploads, such as `Upload-Complete`, to each
///   body. A server of another protocol for resumable uploads can reject them.
/// - The system follows redirects, and retries and resumes exchanges by its own rules. It doesn't ask TargetKit before a
///   redirect, and sends header fields on, also those in which plugins put secrets, such as `X-API-Key`, and also to
///   another origin. Use it only with servers whose redirects you trust.
/// - A POST without an `Idempotency-Key` that the system cancels fails, because the server may have processed it. The next
///   call for a cancelled download resumes it if the server supports this, with the header fields of its first request:
///   if its token has expired, the response is a 401, and the call that follows the refresh starts over. The response of
///   a resumed download describes the whole file.
/// - With a `sharedContainerIdentifier`, the files are in the container of that app group, so that the app receives the
///   responses of an extension that has ended.
/// - An exchange timeout limits the time in which no data arrives. The configuration's `timeoutIntervalForResource`, 7
///   days by default, limits the whole exchange.
/// - The system launches only apps to deliver events. A command-line tool on macOS doesn't receive them after it exits.
public final class BackgroundTransport: Transport, JoiningTransport {
    private static let identifiers = Locked<Set<String>>([])

    private let identifier: String
    private let transfers: BackgroundTransfers
    private let events = BackgroundEvents()
    /// `nil` if another transport has the identifier, because the behavior of two sessions with one identifier is
    /// undefined.
    private let session: URLSession?

    /// Creates the transport of a background session.
    ///
    /// - Parameters:
    ///   - identifier: Identifies the session. It must be unique among the transports of the app and its extensions.
    ///   - tls: The TLS policy; default: the system's.
    ///   - configure: Changes the configuration, for example `isDiscretionary` or `sharedContainerIdentifier`; default:
    ///     no change.
    public init(
        identifier: String,
        tls: TLSPolicy = .system,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.identifier = identifier
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configure(configuration)
        configuration.raiseTLSVersion(to: tls)
        let container = configuration.sharedContainerIdentifier
        let files = BackgroundFiles(in: Self.folder(for: identifier, in: container))
        transfers = BackgroundTransfers(files)
        guard Self.identifiers.withLock({ $0.insert(identifier).inserted }) else {
            session = nil
            return
        }
        files.removeOld()
        let callbacks = OperationQueue()
        callbacks.maxConcurrentOperationCount = 1
        callbacks.name = "TargetKit.BackgroundTransport"
        let delegate = BackgroundDelegate(transfers, events: events, tls: tls)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    /// - Parameter container: The app group whose container an extension shares with its app, which receives the events
    ///   after the extension has ended.
    private static func folder(for identifier: String, in container: String?) -> URL {
        // tvOS offers apps no other location for files.
        #if os(tvOS)
        let (place, path) = (FileManager.SearchPathDirectory.cachesDirectory, "Library/Caches")
        #else
        let (place, path) = (FileManager.SearchPathDirectory.applicationSupportDirectory, "Library/Application Support")
        #endif
        let manager = FileManager.default
        let shared = container.flatMap { manager.containerURL(forSecurityApplicationGroupIdentifier: $0) }
        let parent = shared?.appendingPathComponent(path) ?? manager.urls(for: place, in: .userDomainMask).first
        return (parent ?? manager.temporaryDirectory).appendingPathComponent(
            "TargetKit.background/\(SHA256Hasher.hexadecimal(of: identifier).prefix(16))"
        )
    }

    /// Calls the completion handler that the system passes to the app delegate, when all events of the session have
    /// been delivered, and each `TransferQueue` has stored the results that it received.
    ///
    /// - Parameter identifier: The identifier that the system passes with the handler.
    /// - Returns: Whether the session has the identifier. If `false`, the handler isn't called; pass it to the
    ///   transport with that identifier.
    @MainActor @discardableResult
    public func handleEvents(for identifier: String, completion: @escaping () -> Void) -> Bool {
        guard identifier == self.identifier else { return false }
        events.handle(completion)
        return true
    }

    func hold(_ transferID: String) { transfers.results.hold(transferID) }

    func release(_ transferID: String) { transfers.results.release(transferID) }

    /// `false`.
    public var streamsResponses: Bool { false }

    /// Performs one exchange, or returns the stored response of an exchange that ended while the app wasn't running.
    ///
    /// - Throws: A `URLError`; `.unsupportedURL` if the request's destination is a stream, if an exchange for the same
    ///   transfer is in progress, or if another transport has the identifier.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var urlRequest = try request.checkedForURLSession()
        if case .stream = request.destination {
            let words = "a background session can't stream a response"
            let info: [String: Any] = [NSLocalizedDescriptionKey: words, FailureMark.cannotStream: true]
            throw URLError(.unsupportedURL, userInfo: info)
        }
        guard let url = request.urlRequest.url else { throw URLError(.badURL) }
        guard let session else {
            let words =
                "another BackgroundTransport has the identifier \(identifier); "
                + "create one for each identifier, and keep a reference to it"
            throw URLError.failure(.unsupportedURL, message: words, for: url)
        }
        if let timeout = request.timeout { urlRequest.timeoutInterval = timeout / .seconds(1) }
        return try await transfers.send(request, as: urlRequest, to: url, over: SessionTasks(session: session))
    }
}

/// The tasks of a URLSession.
private struct SessionTasks: BackgroundTasks {
    let session: URLSession

    func list(_ receive: @escaping @Sendable ([BackgroundTask]) -> Void) {
        session.getAllTasks { tasks in receive(tasks.map { BackgroundTask($0) }) }
    }

    func make(_ work: BackgroundTask.Work, named name: BackgroundTask.Name) -> BackgroundTask {
        let task: URLSessionTask =
            switch work {
            case .upload(let request, let file): session.uploadTask(with: request, fromFile: file)
            case .download(let request): session.downloadTask(with: request)
            case .continuation(let data): session.downloadTask(withResumeData: data)
            }
        task.taskDescription = name.description
        return BackgroundTask(task)
    }
}

extension BackgroundTask {
    fileprivate init(_ task: URLSessionTask) {
        self.init(
            identifier: task.taskIdentifier,
            name: task.taskDescription.flatMap { Name($0) },
            state: State(task.state),
            resume: { task.resume() },
            cancel: { receive in
                guard let download = task as? URLSessionDownloadTask else {
                    task.cancel()
                    return receive(nil)
                }
                download.cancel(byProducingResumeData: receive)
            }
        )
    }
}

extension BackgroundTask.State {
    fileprivate init(_ state: URLSessionTask.State) {
        switch state {
        case .running: self = .running
        case .suspended: self = .suspended
        case .canceling: self = .canceling
        case .completed: self = .completed
        @unknown default: self = .running
        }
    }
}
#endif
