// SPDX-License-Identifier: MIT
#if !canImport(FoundationNetworking)
import TargetKit

/// A task of URLSession.
struct URLSessionWebSocketOperations: WebSocketTask {
    let task: URLSessionWebSocketTask

    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
        task.receive { result in
            completion(
                result.flatMap { message in
                    switch message {
                    case .string(let text): .success(.text(text))
                    case .data(let data): .success(.data(data))
                    @unknown default: .failure(URLError(.cannotParseResponse))
                    }
                }
            )
        }
    }

    func send(_ message: WebSocketMessage, completion: @escaping @Sendable ((any Error)?) -> Void) {
        switch message {
        case .text(let text): task.send(.string(text), completionHandler: completion)
        case .data(let data): task.send(.data(data), completionHandler: completion)
        }
    }

    func ping(completion: @escaping @Sendable ((any Error)?) -> Void) {
        task.sendPing(pongReceiveHandler: completion)
    }

    func cancel(_ closing: WebSocketClosing) {
        // A frame without a code can't be sent.
        let code = closing.code == 1005 ? nil : URLSessionWebSocketTask.CloseCode(rawValue: Int(closing.code))
        task.cancel(with: code ?? .normalClosure, reason: closing.reason.isEmpty ? nil : Data(closing.reason.utf8))
    }

    func cancel() { task.cancel() }
}
#endif
