// SPDX-License-Identifier: MIT
import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// The server that `Sources/GeneratedAPI/openapi.yaml` describes, on a free port of this machine. It knows nothing of
/// TargetKit, and reads and writes JSON by itself.
public final class TaskServer: Sendable {
    /// Where the server listens.
    public let baseURL: URL
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    private init(baseURL: URL, server: HTTPServer, running: Task<Void, any Error>) {
        (self.baseURL, self.server, self.running) = (baseURL, server, running)
    }

    /// Starts a server without tasks, and waits until it listens.
    public static func start() async throws -> TaskServer {
        let logger: some Logging = .disabled
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: logger)
        let list = TaskList()
        await server.appendRoute("*") { request in
            let body = try await request.bodyData
            return list.response(to: request, body: body)
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(let host, let port) = await server.listeningAddress,
            let baseURL = URL(string: "http://\(host):\(port)")
        else { throw URLError(.cannotConnectToHost) }
        return TaskServer(baseURL: baseURL, server: server, running: running)
    }

    /// Stops the server.
    public func stop() async {
        await server.stop()
        _ = await running.result
    }
}

/// The tasks as JSON objects.
private final class TaskList: Sendable {
    private struct State {
        var tasks: [Int: Data] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func response(to request: HTTPRequest, body: Data) -> HTTPResponse {
        let segments = request.path.split(separator: "/")
        guard segments.first == "tasks" else { return problem(404, "There is no such path.") }
        switch (request.method, segments.count) {
        case (.GET, 1): return tasks(limit: request.query.first { $0.name == "limit" }?.value)
        case (.POST, 1): return add(body)
        case (.GET, 2), (.DELETE, 2):
            guard let id = Int(segments[1]) else { return problem(400, "The number is not a number.") }
            return request.method == .GET ? task(id) : delete(id)
        default: return problem(405, "The path has no such method.")
        }
    }

    private func tasks(limit: String?) -> HTTPResponse {
        guard let limit = Int(limit ?? "20"), limit > 0 else { return problem(400, "The limit is less than 1.") }
        let tasks = state.withLock { $0.tasks.sorted { $0.key > $1.key }.prefix(limit).map(\.value) }
        return json(.ok, Data("[".utf8) + tasks.joined(separator: Data(",".utf8)) + Data("]".utf8))
    }

    private func task(_ id: Int) -> HTTPResponse {
        state.withLock { $0.tasks[id] }.map { json(.ok, $0) } ?? problem(404, "There is no task \(id).")
    }

    private func delete(_ id: Int) -> HTTPResponse {
        let task = state.withLock { $0.tasks.removeValue(forKey: id) }
        return task == nil ? problem(404, "There is no task \(id).") : HTTPResponse(statusCode: .noContent)
    }

    private func add(_ body: Data) -> HTTPResponse {
        guard var object = try? JSONSerialization.jsonObject(with: body) as? [String: Any], object["title"] is String
        else { return problem(422, "A task needs a title.") }
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        (object["id"], object["state"]) = (id, "open")
        guard let task = try? JSONSerialization.data(withJSONObject: object) else { return problem(500, "No JSON.") }
        state.withLock { $0.tasks[id] = task }
        return json(.created, task)
    }

    private func json(_ status: HTTPStatusCode, _ data: Data) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: data)
    }

    private func problem(_ status: Int, _ title: String) -> HTTPResponse {
        HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: "Problem"),
            headers: [.contentType: "application/problem+json"],
            body: Data(#"{"status":\#(status),"title":"\#(title)"}"#.utf8)
        )
    }
}
