// SPDX-License-Identifier: MIT
import TargetKit

/// Matches exchanges with the tasks of a background session. Tasks outlive the process.
///
/// A request is identified by its key, and each of its tasks has its own files. An exchange takes a stored response,
/// joins a task of an earlier launch, or creates a task, in this order, so that no request is sent twice.
final class BackgroundTransfers: Sendable {
    private struct Exchange: Sendable {
        let request: TransportRequest
        let urlRequest: URLRequest
        let url: URL
        let tasks: any BackgroundTasks
        let continuation: CheckedContinuation<TransportResponse, any Error>
        /// `nil` until the body has been read.
        var key: String?
        /// `nil` until the tasks of the session are known.
        var task: BackgroundTask?
        /// The number of times that the system has cancelled a task of the exchange.
        var interruptions = 0
    }

    private struct State: Sendable {
        var exchanges: [Int: Exchange] = [:]
        var count = 0
        /// The tasks that were cancelled because their exchange was.
        var cancelled: Set<Int> = []
        /// The tasks that have ended. The session may still list them.
        var ended: Set<Int> = []
        /// The failures to store a response or trust its server, by task.
        var failures: [Int: any Error] = [:]

        func number(of key: String) -> Int? { exchanges.first { $0.value.key == key }?.key }
    }

    /// The number of cancellations by the system after which an exchange fails.
    private static let maxInterruptions = 3

    /// The results that the owners of transfers store.
    let results = BackgroundResults()
    private let files: BackgroundFiles
    /// The queue on which bodies are read and copied, because that blocks.
    private let queue = DispatchQueue(label: "TargetKit.BackgroundTransfers", attributes: .concurrent)
    private let state = Locked(State())

    init(_ files: BackgroundFiles) {
        self.files = files
    }

    /// Performs one exchange.
    ///
    /// - Parameter urlRequest: The request to pass to the session.
    /// - Throws: A `URLError`, or the error of the request's `BodySource`.
    func send(
        _ request: TransportRequest,
        as urlRequest: URLRequest,
        to url: URL,
        over tasks: any BackgroundTasks
    ) async throws -> TransportResponse {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let exchange = Exchange(
                    request: request,
                    urlRequest: urlRequest,
                    url: url,
                    tasks: tasks,
                    continuation: continuation
                )
                state.withLock { $0.exchanges[number] = exchange }
                // The handler may have run before.
                if Task.isCancelled { cancel(number) }
                queue.async { self.begin(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func begin(_ number: Int) {
        guard let exchange = exchange(number) else { return }
        do {
            let key = try BackgroundFiles.key(of: exchange.request) { self.exchange(number) != nil }
            guard let key else { return }
            let isAlone = state.withLock { state in
                guard state.number(of: key) == nil else { return false }
                state.exchanges[number]?.key = key
                return true
            }
            guard isAlone else {
                return fail(number, code: .unsupportedURL, message: "another call for the same transfer is in progress")
            }
            exchange.tasks.list { listed in self.queue.async { self.join(listed, number: number, key: key) } }
        } catch {
            end(number, with: .failure(error))
        }
    }

    /// Takes the response that has arrived, joins a listed task, or creates a task.
    private func join(_ listed: [BackgroundTask], number: Int, key: String) {
        guard exchange(number) != nil, !deliver(key) else { return }
        let own = listed.filter { $0.name?.transfer == key && $0.state != .canceling }
        if let task = own.first(where: { attach($0, to: number) }) {
            if task.state == .suspended { task.resume() }
            return
        }
        guard exchange(number)?.request.mustJoin != true else { return end(number, with: .failure(BegunTransfer())) }
        do {
            try start(number, key: key)
        } catch {
            end(number, with: .failure(error))
        }
    }

    /// Attaches a task to an exchange, unless either of them has ended or the task was cancelled.
    private func attach(_ task: BackgroundTask, to number: Int) -> Bool {
        state.withLock { state in
            guard state.exchanges[number] != nil, !state.ended.contains(task.identifier),
                !state.cancelled.contains(task.identifier)
            else { return false }
            state.exchanges[number]?.task = task
            return true
        }
    }

    /// - Parameter former: The task of the exchange that the system has cancelled.
    private func start(_ number: Int, key: String, after former: BackgroundTask.Name? = nil) throws {
        guard let exchange = exchange(number) else { return }
        let name = BackgroundTask.Name(transfer: key)
        let resumption = files.takeResumption(of: key)
        let work: BackgroundTask.Work
        switch exchange.request.body {
        case .none:
            work = resumption.map(BackgroundTask.Work.continuation) ?? .download(exchange.urlRequest)
        case .file(let url):
            // The system raises an exception for a missing file.
            guard access(url.path, R_OK) == 0 else {
                let words = "\(url.path): \(String(cString: strerror(errno)))"
                throw URLError.failure(.fileDoesNotExist, message: words, for: exchange.url)
            }
            work = .upload(exchange.urlRequest, from: url)
        case .data, .stream:
            if let former { files.moveRequest(of: former, to: name) }
            let file = files.file("request", of: name)
            if FileStatus(of: file) == nil {
                let isWritten = try files.write(exchange.request.body, of: name) { self.exchange(number) != nil }
                guard isWritten else { return }
            }
            work = .upload(exchange.urlRequest, from: file)
        }
        let task = exchange.tasks.make(work, named: name)
        guard attach(task, to: number) else {
            state.withLock { _ = $0.cancelled.insert(task.identifier) }
            task.cancel { _ in }
            return files.remove(name)
        }
        task.resume()
    }

    private func exchange(_ number: Int) -> Exchange? { state.withLock { $0.exchanges[number] } }
}

// MARK: - The end of an exchange

extension BackgroundTransfers {
    private func cancel(_ number: Int) {
        let exchange = state.withLock { state in
            let exchange = state.exchanges.removeValue(forKey: number)
            if let task = exchange?.task { state.cancelled.insert(task.identifier) }
            return exchange
        }
        guard let exchange else { return }
        exchange.task?.cancel { [self] data in
            guard let key = exchange.key, let data else { return }
            // Unless another exchange has restarted the download.
            if state.withLock({ $0.number(of: key) == nil }) { files.storeResumption(data, of: key) }
        }
        let error = URLError.failure(.cancelled, message: "the call was cancelled", for: exchange.url)
        exchange.continuation.resume(throwing: error)
    }

    private func end(_ number: Int, with result: Result<TransportResponse, any Error>) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: number) }
        exchange?.continuation.resume(with: result)
    }

    private func fail(_ number: Int, code: URLError.Code, message: String) {
        guard let exchange = exchange(number) else { return }
        end(number, with: .failure(URLError.failure(code, message: message, for: exchange.url)))
    }

    /// Passes a stored response to the exchange that waits for it, and returns `false` if there is no response.
    @discardableResult
    private func deliver(_ key: String) -> Bool {
        // Only the code that removes an exchange may end it, so a cancelled exchange can't take the response.
        guard FileStatus(of: files.file("head", of: key)) != nil,
            let exchange = state.withLock({ state in
                state.number(of: key).flatMap { state.exchanges.removeValue(forKey: $0) }
            })
        else { return false }
        if let id = exchange.request.transferID { results.deliver(id) }
        let result = Result { try files.take(key, to: exchange.request.destination) }
        switch result {
        case .success(let response?):
            files.storeResumption(nil, of: key)
            exchange.continuation.resume(returning: response)
        case .success(nil):
            let words = "the stored response of the transfer can't be read"
            exchange.continuation.resume(
                throwing: URLError.failure(.cannotParseResponse, message: words, for: exchange.url)
            )
            unlink(files.file("head", of: key).path)
        case .failure(let error): exchange.continuation.resume(throwing: error)
        }
        return true
    }
}

// MARK: - Events of the session

extension BackgroundTransfers {
    /// Reports progress of a task to its exchange.
    func report(_ progress: TransferProgress, of task: Int) {
        let report = state.withLock { state in
            state.exchanges.values.first { $0.task?.identifier == task }?.request.progress
        }
        report?(progress)
    }

    /// Appends received bytes to the body of a task's response.
    func receive(_ data: Data, of task: Int, named name: BackgroundTask.Name) {
        keepFailure(of: task) { try files.append(data, of: name) }
    }

    /// Moves a downloaded file to the body of a task's response before the system removes the file.
    func receive(file: URL, of task: Int, named name: BackgroundTask.Name) {
        keepFailure(of: task) { try files.move(file, of: name) }
    }

    private func keepFailure(of task: Int, store: () throws -> Void) {
        do {
            try store()
        } catch {
            fail(task, with: error)
        }
    }

    /// Stores the failure to report when the task ends.
    func fail(_ task: Int, with error: any Error) {
        state.withLock { $0.failures[task] = error }
    }

    /// Receives the end of a task.
    ///
    /// - Parameters:
    ///   - isContinued: Whether the system resumed the download itself.
    ///   - resumption: The resume data of the download.
    func end(
        _ task: Int,
        named name: BackgroundTask.Name,
        with result: Result<ResponseHead, any Error>,
        isContinued: Bool = false,
        resumption: Data? = nil
    ) {
        let (failure, isUnwanted) = state.withLock { state in
            let attached = state.number(of: name.transfer).flatMap { state.exchanges[$0]?.task?.identifier }
            let isUnwanted = state.cancelled.remove(task) != nil || attached != nil && attached != task
            if isUnwanted { state.ended.insert(task) }
            return (state.failures.removeValue(forKey: task), isUnwanted)
        }
        // The transfer was cancelled, or is performed by another task.
        if isUnwanted { return files.remove(name) }
        switch failure.map(Result.failure) ?? result {
        case .success(let head): store(head, task: task, name: name, isContinued: isContinued)
        case .failure(let error):
            unlink(files.file("body", of: name).path)
            if let resumption { files.storeResumption(resumption, of: name.transfer) }
            // From here on, no exchange joins the task.
            let number = state.withLock { state in
                state.ended.insert(task)
                return state.number(of: name.transfer).flatMap { number in
                    state.exchanges[number]?.task?.identifier == task ? number : nil
                }
            }
            if let number {
                interrupted(number, name: name, error: error, isCancelled: failure == nil)
            } else {
                files.remove(name)
            }
        }
    }

    /// Stores a response before the task counts as ended, so that an exchange either joins the task or finds the
    /// response.
    private func store(_ head: ResponseHead, task: Int, name: BackgroundTask.Name, isContinued: Bool) {
        unlink(files.file("request", of: name).path)
        let stored = Result { try files.store(head, of: name, isContinued: isContinued) }
        let number = state.withLock { state in
            state.ended.insert(task)
            return state.number(of: name.transfer)
        }
        switch stored {
        case .success: deliver(name.transfer)
        case .failure:
            files.remove(name)
            if let number { end(number, with: .failure(URLError(.cannotWriteToFile))) }
        }
    }

    /// Fails an exchange, or restarts its task if the system cancelled it, for example because the user quit the app,
    /// and the request may be sent twice.
    private func interrupted(_ number: Int, name: BackgroundTask.Name, error: any Error, isCancelled: Bool) {
        let isBySystem = isCancelled && (error as? URLError)?.code == .cancelled
        let goesOn = state.withLock { state in
            guard isBySystem, let exchange = state.exchanges[number], exchange.urlRequest.isRepeatable(),
                exchange.interruptions < Self.maxInterruptions
            else { return false }
            state.exchanges[number]?.interruptions += 1
            state.exchanges[number]?.task = nil
            return true
        }
        guard goesOn else {
            files.remove(name)
            return end(number, with: .failure(error))
        }
        queue.async {
            do {
                try self.start(number, key: name.transfer, after: name)
            } catch {
                self.end(number, with: .failure(error))
            }
            self.files.remove(name)
        }
    }
}
