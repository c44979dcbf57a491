// SPDX-License-Identifier: MIT

/// Starts the tasks of one session, and forwards their events to their exchanges.
///
/// All events arrive through the delegate. On Linux (Swift 6.3.1), a badly timed cancellation makes URLSession's async
/// methods hang forever in every session, and completion handlers miss most callbacks.
final class SessionDelegate: NSObject, Sendable {
    private struct State: Sendable {
        var exchanges: [Int: URLSessionExchange] = [:]
        /// The exchanges without a task, by identity.
        var waiting: [ObjectIdentifier: URLSessionExchange] = [:]
        var isShutDown = false
        #if !canImport(FoundationNetworking)
        var webSockets: [Int: any URLSessionWebSocketEvents] = [:]
        #endif
    }

    /// The queue on which tasks are created, started and cancelled. On Linux, each of these operations waits for the
    /// queue that all sessions share.
    let queue = DispatchQueue(label: "TargetKit.SessionDelegate")
    private let state = Locked(State())
    private let tls: TLSPolicy

    /// Creates a delegate with a TLS policy.
    init(_ tls: TLSPolicy) {
        self.tls = tls
    }

    /// Starts the exchange once its body is available.
    func begin(_ exchange: URLSessionExchange, in session: URLSession) {
        let isOpen = state.withLock { state in
            if !state.isShutDown { state.waiting[ObjectIdentifier(exchange)] = exchange }
            return !state.isShutDown
        }
        guard isOpen else { return exchange.fail(.shutDown) }
        guard case .stream(let source) = exchange.call.body else {
            return queue.async { self.start(exchange, body: exchange.body, in: session) }
        }
        // A source can block, and the system's queues share their threads.
        Thread.detachNewThread {
            do {
                let body = try URLSessionBody(of: source) { !exchange.isSettled }
                exchange.keep(body)
                self.queue.async { self.start(exchange, body: body, in: session) }
            } catch {
                self.forget(exchange)
                let url = exchange.call.url
                exchange.settle(.failure((error as? TransportFailure)?.error(for: url) ?? error))
            }
        }
    }

    /// Cancels every exchange and rejects later exchanges.
    func shutDown(_ session: URLSession) {
        let open = state.withLock { state in
            state.isShutDown = true
            return Array(state.exchanges.values) + Array(state.waiting.values)
        }
        open.forEach { $0.fail(.shutDown) }
        #if !canImport(FoundationNetworking)
        for webSocket in state.withLock(\.webSockets).values { webSocket.fail(URLError(.cancelled)) }
        #endif
        close(session)
    }

    /// Releases the session after its last task ends.
    func close(_ session: URLSession) {
        // Not `invalidateAndCancel()`, which on Linux reads the list of tasks while other threads change it.
        queue.async { session.finishTasksAndInvalidate() }
    }

    private func start(_ exchange: URLSessionExchange, body: URLSessionBody, in session: URLSession) {
        // Creating a task in an invalidated session ends the process. Both happen on this queue, which orders them.
        guard !exchange.isSettled, !state.withLock({ $0.isShutDown }) else {
            forget(exchange)
            return exchange.fail(.shutDown)
        }
        // On Apple platforms, upload tasks add the header fields of resumable uploads from iOS 17 and macOS 14 on, such as
        // `Upload-Complete`.
        let task = session.dataTask(with: exchange.call.request.sending(body))
        state.withLock { state in
            state.waiting[ObjectIdentifier(exchange)] = nil
            state.exchanges[task.taskIdentifier] = exchange
        }
        exchange.attach(task)
        task.resume()
    }

    private func forget(_ exchange: URLSessionExchange) {
        state.withLock { $0.waiting[ObjectIdentifier(exchange)] = nil }
    }

    private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.exchanges[task.taskIdentifier] }
    }

    private func removeExchange(of task: URLSessionTask) -> URLSessionExchange? {
        state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
    }
}

#if !canImport(FoundationNetworking)
extension SessionDelegate {
    /// Starts the task of a WebSocket; fails it if the transport has been shut down.
    func begin(
        _ request: URLRequest,
        messageLimit: Int,
        _ webSocket: any URLSessionWebSocketEvents,
        in session: URLSession
    ) {
        queue.async { [self] in
            guard !state.withLock(\.isShutDown) else { return webSocket.fail(URLError(.cancelled)) }
            let task = session.webSocketTask(with: request)
            task.maximumMessageSize = messageLimit
            state.withLock { $0.webSockets[task.taskIdentifier] = webSocket }
            webSocket.didCreate(task)
            task.resume()
        }
    }

    private func webSocket(of task: URLSessionTask) -> (any URLSessionWebSocketEvents)? {
        state.withLock { $0.webSockets[task.taskIdentifier] }
    }

    /// Ends a task whose server isn't trusted.
    private func fail(_ task: URLSessionTask, with error: URLError) {
        exchange(of: task)?.settle(.failure(error))
        webSocket(of: task)?.fail(error)
    }
}

extension SessionDelegate: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol subprotocol: String?
    ) {
        let head = (webSocketTask.response as? HTTPURLResponse).map { ResponseHead($0) }
        webSocket(of: webSocketTask)?.didOpen(head ?? ResponseHead(statusCode: 101), subprotocol: subprotocol)
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        webSocket(of: webSocketTask)?.didClose(closeCode, reason: reason)
    }
}
#endif

extension SessionDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        // Summed here, because on Linux the total can already include later bytes.
        exchange(of: task)?.addSent(bytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        removeExchange(of: task)?.complete(response: task.response, error: error)
        #if !canImport(FoundationNetworking)
        let webSocket = state.withLock { $0.webSockets.removeValue(forKey: task.taskIdentifier) }
        webSocket?.didComplete((task.response as? HTTPURLResponse).map { ResponseHead($0) }, error: error)
        #endif
    }

    /// A redirect is returned as the response; TargetKit follows it.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // On Linux (Swift 6.3.1), the challenge follows a complete 401 response, and no disposition ends the task with
        // that response. Cancelling the challenge ends the task with "cancelled"; any other disposition never ends it.
        // Watched by `FoundationTrapTests`.
        removeExchange(of: task)?.complete(response: task.response, error: nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate: break
        default: exchange(of: task)?.noteChallenge()
        }
        let url = task.originalRequest?.url ?? URL(filePath: "/")
        tls.answer(challenge, for: url, fail: { [self] in fail(task, with: $0) }, completionHandler: completionHandler)
        #endif
    }

    /// Called when the body has to be sent again: on Apple platforms after a challenge, for example of a proxy, and when a
    /// persistent connection closed. On Linux, libcurl can't be stopped here; without a stream, it sends the head again,
    /// without the body. There, it's also called for tasks without a body, before anything is sent.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let exchange = exchange(of: task), exchange.body.isPresent else { return completionHandler(nil) }
        completionHandler(exchange.prepareToSendAgain() ? exchange.body.stream : nil)
    }
}

#if !canImport(FoundationNetworking)
// Foundation on Linux collects no metrics.
extension SessionDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        guard let last = metrics.transactionMetrics.last else { return }
        var measured = TransportMetrics(last, total: metrics.taskInterval.duration)
        let url = last.request.url
        measured.trustedBlindly = url?.scheme == "https" && tls.trustsBlindly(url?.host ?? "")
        exchange(of: task)?.keep(measured)
    }
}

extension TransportMetrics {
    /// Creates the metrics from Foundation's; `total` is in seconds.
    init(_ measured: URLSessionTaskTransactionMetrics, total: TimeInterval) {
        let start = measured.fetchStartDate
        let since = { (date: Date?) -> Duration? in
            guard let start, let date else { return nil }
            return .seconds(date.timeIntervalSince(start))
        }
        self.init(
            nameLookup: since(measured.domainLookupEndDate),
            connect: measured.isReusedConnection ? .zero : since(measured.connectEndDate),
            secureConnect: since(measured.secureConnectionEndDate),
            firstByte: since(measured.responseStartDate),
            total: .seconds(total),
            bytesSent: measured.countOfRequestBodyBytesSent,
            bytesReceived: measured.countOfResponseBodyBytesReceived,
            reusedConnection: measured.isReusedConnection,
            httpVersion: Self.version(measured.networkProtocolName),
            remoteAddress: measured.remoteAddress
        )
    }

    /// The HTTP version for an ALPN protocol name (RFC 7301 §6).
    private static func version(_ name: String?) -> String {
        switch name {
        case "h2"?: "HTTP/2"
        case "h3"?: "HTTP/3"
        case "http/1.0"?: "HTTP/1.0"
        default: "HTTP/1.1"
        }
    }
}
#endif
