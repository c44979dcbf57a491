// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import TargetKit
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The targets of a test's queue.
enum Media: TargetType, Codable, Hashable {
    case film(Int)

    var baseURL: URL { URL(string: "https://media.example") ?? URL(filePath: "/") }
    var path: RequestPath {
        switch self {
        case .film(let number): "/film/\(number)"
        }
    }
}

/// A transport whose exchanges wait until the test ends them.
final class ControlledTransport: Transport {
    private struct State: Sendable {
        var waiting: [String: CheckedContinuation<TransportResponse, any Error>] = [:]
    }

    /// The paths of the exchanges that have begun.
    let begun = Recorder<String>()
    /// The paths of the exchanges that were cancelled.
    let cancelled = Recorder<String>()
    private let state = Locked(State())
    /// The progress that each exchange reports when it begins.
    private let progress: TransferProgress?
    /// Whether exchanges go on when they are cancelled, until the test ends them.
    private let ignoresCancellation: Bool

    init(progress: TransferProgress? = nil, ignoresCancellation: Bool = false) {
        self.progress = progress
        self.ignoresCancellation = ignoresCancellation
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.urlRequest.url?.path ?? ""
        if let progress { request.progress?(progress) }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.waiting[path] = continuation }
                begun.append(path)
                if Task.isCancelled { cancel(path) }
            }
        } onCancel: {
            cancel(path)
        }
    }

    func finish(_ target: Media, with result: Result<Int, URLError> = .success(200)) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: "\(target.path)") }
        waiting?.resume(with: result.map { TransportResponse(head: ResponseHead(statusCode: $0), body: .data(Data())) })
    }

    private func cancel(_ path: String) {
        cancelled.append(path)
        if ignoresCancellation { return }
        let waiting = state.withLock { $0.waiting.removeValue(forKey: path) }
        waiting?.resume(throwing: CancellationError())
    }
}
