// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import TargetKit

/// Passes the events of a background session to its transfers. Each task is identified by its description, because that
/// outlives the process.
final class BackgroundDelegate: NSObject, Sendable {
    private let transfers: BackgroundTransfers
    private let events: BackgroundEvents
    private let tls: TLSPolicy

    init(_ transfers: BackgroundTransfers, events: BackgroundEvents, tls: TLSPolicy) {
        self.transfers = transfers
        self.events = events
        self.tls = tls
    }

    private func report(
        _ task: URLSessionTask,
        count: Int64,
        of total: Int64,
        direction: TransferProgress.Direction
    ) {
        let progress = TransferProgress(completed: count, total: total > 0 ? total : nil, direction: direction)
        transfers.report(progress, of: task.taskIdentifier)
    }
}

extension URLSessionTask {
    fileprivate var name: BackgroundTask.Name? { taskDescription.flatMap { BackgroundTask.Name($0) } }
}

extension BackgroundDelegate: URLSessionDownloadDelegate, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let name = downloadTask.name else { return }
        transfers.receive(file: location, of: downloadTask.taskIdentifier, named: name)
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        report(downloadTask, count: totalBytesWritten, of: totalBytesExpectedToWrite, direction: .download)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let name = dataTask.name else { return }
        transfers.receive(data, of: dataTask.taskIdentifier, named: name)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        report(task, count: totalBytesSent, of: totalBytesExpectedToSend, direction: .upload)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let name = task.name else { return }
        let result: Result<ResponseHead, any Error>
        if let error {
            result = .failure(error.redacted)
        } else if let response = task.response as? HTTPURLResponse {
            result = .success(ResponseHead(response))
        } else {
            result = .failure(URLError(.badServerResponse))
        }
        transfers.end(
            task.taskIdentifier,
            named: name,
            with: result,
            isContinued: task.originalRequest?.value(forHTTPHeaderField: "Range") == nil,
            resumption: (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
        )
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let url = task.originalRequest?.url ?? URL(filePath: "/")
        let fail = { @Sendable [transfers, identifier = task.taskIdentifier] (error: URLError) in
            transfers.fail(identifier, with: error)
        }
        tls.answer(challenge, for: url, fail: fail, completionHandler: completionHandler)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        transfers.results.whenStored { [events] in Task { @MainActor in events.finish() } }
    }
}
#endif
