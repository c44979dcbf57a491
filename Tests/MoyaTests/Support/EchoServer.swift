// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport

/// A server that describes the requests it receives, as JSON.
///
/// It is in a file of its own, because TargetKitTesting exports TargetKit, whose names are also Moya's.
final class EchoServer: Sendable {
    /// A request as the server has received it.
    struct Received: Codable, Sendable {
        var method: String
        var path: String
        var query: String?
        var headers: [String: String]
        var body: String
    }

    private let server: TestServer
    private let received: Recorder<Received>

    var baseURL: URL { server.baseURL }

    /// The requests so far.
    var requests: [Received] { received.elements }

    func waitForRequests(_ count: Int) async { _ = await received.waitForCount(count) }

    init() throws {
        let received = Recorder<Received>()
        self.received = received
        server = try TestServer { request in
            let headers = Dictionary(
                request.headers.fields.map { ($0.name.rawValue.lowercased(), $0.value) },
                uniquingKeysWith: { "\($0), \($1)" }
            )
            let description = Received(
                method: request.method.rawValue,
                path: request.path,
                query: request.query,
                headers: headers,
                body: request.text
            )
            received.append(description)
            return await Self.response(to: description, count: received.count)
        }
    }

    private static func response(to request: Received, count: Int) async -> TestServer.Response {
        let parts = request.path.split(separator: "/").map(String.init)
        switch parts.first {
        case "status": return .status(Int(parts[1]) ?? 500)
        case "redirect": return .redirect(to: request.query ?? "/echo")
        case "cookies": return .status(200, headers: ["Set-Cookie": "flavor=oat; Path=/"])
        case "hang": return .hang
        case "bytes": return .data(Data(repeating: 65, count: Int(parts[1]) ?? 0))
        // Without a length, in pieces that arrive separately.
        case "chunks":
            let chunk = TestServer.Step.chunk(Data(repeating: 65, count: 1_000))
            return TestServer.Response(steps: [
                .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), chunk, .wait(for: .seconds(1)),
                chunk,
                .wait(for: .seconds(1)), .endChunks,
            ])
        // A body that takes six seconds, with a second between its bytes.
        case "slow":
            return TestServer.Response(steps: [
                .head(status: 200, headers: ["Content-Length": "7"]),
                .drip(Data("slowly!".utf8), chunkSize: 1, every: .seconds(1)),
            ])
        case "unavailable": return count <= (Int(parts[1]) ?? 0) ? .status(503) : .json("{}")
        case "unavailable-once": return count == 1 ? .status(503) : .json("{}")
        case "private":
            return request.headers["authorization"] == nil
                ? .status(401, headers: ["WWW-Authenticate": "Basic realm=\"tea\""]) : .json("{}")
        default:
            let json = (try? JSONEncoder().encode(request)) ?? Data()
            return .data(json, headers: ["Content-Type": "application/json"])
        }
    }
}

/// A port of this machine that refuses connections.
final class RefusedPort: Sendable {
    private let port: ClosedPort

    var baseURL: URL { URL(string: "http://127.0.0.1:\(port.port)") ?? URL(fileURLWithPath: "/") }

    init() throws {
        port = try ClosedPort()
    }
}

/// httpbin, if it is running.
enum Httpbin {
    static var isRunning: Bool { ServerAvailability.httpbin.isRunning }
    static var skipReason: String { ServerAvailability.httpbin.skipReason }
    static var baseURL: URL { ServerAvailability.httpbin.baseURL }
}

/// A list to which closures of any thread append.
final class Log: Sendable {
    private let recorder = Recorder<String>()

    var lines: [String] { recorder.elements }

    func append(_ line: String) { recorder.append(line) }

    func waitForCount(_ count: Int) async -> [String] { await recorder.waitForCount(count) }
}

/// An empty folder, which is removed with its last reference.
final class TestFolder: Sendable {
    private let folder: TemporaryFolder

    var url: URL { folder.url }
    var names: [String] { folder.names }

    init() throws {
        folder = try TemporaryFolder()
    }

    func file(_ name: String, _ text: String) throws -> URL { try folder.file(name, Data(text.utf8)) }
}
