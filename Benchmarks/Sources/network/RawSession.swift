// SPDX-License-Identifier: MIT
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// URLSession by itself, as one has to use it on Linux: one delegate for the session, tasks known by their identifiers,
/// and no asynchronous methods, which block every session of the process when a task is cancelled at the wrong moment.
final class RawSession: NSObject, URLSessionDataDelegate {
    private struct Exchange {
        var data = Data()
        let continuation: CheckedContinuation<Data, any Error>
    }

    private let session = Mutex<URLSession?>(nil)
    private let exchanges = Mutex<[Int: Exchange]>([:])

    override init() {
        super.init()
        let configuration = URLSessionConfiguration.ephemeral
        // With a cache, a cancel that races a completion ends the process on Linux.
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        session.withLock { $0 = URLSession(configuration: configuration, delegate: self, delegateQueue: nil) }
    }

    /// Returns the body of a response with status 200.
    func data(from url: URL) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            guard let task = session.withLock({ $0?.dataTask(with: URLRequest(url: url)) }) else {
                return continuation.resume(throwing: URLError(.cancelled))
            }
            exchanges.withLock { $0[task.taskIdentifier] = Exchange(continuation: continuation) }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchanges.withLock { $0[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return exchange.continuation.resume(throwing: error) }
        guard (task.response as? HTTPURLResponse)?.statusCode == 200 else {
            return exchange.continuation.resume(throwing: URLError(.badServerResponse))
        }
        exchange.continuation.resume(returning: exchange.data)
    }
}
