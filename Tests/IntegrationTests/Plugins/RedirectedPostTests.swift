// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitResilience
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A POST behind a redirect", .throttled, .timeLimit(.minutes(3)))
struct RedirectedPostTests {
    /// What the second server does with the request that it has read.
    enum Ending: String, CaseIterable, Sendable {
        case hangs, closes, resets, breaksOff, isBusy, rejects, redirects
    }

    enum Body: CaseIterable, Sendable {
        case data, file, multipart, stream

        func task(_ file: URL) -> HTTPTask {
            switch self {
            case .data: .data(RedirectedPostTests.content)
            case .file: .upload(file: file)
            case .multipart: .multipart([.file(file, name: "f"), .stream(Source(), name: "s")])
            case .stream: .multipart([.stream(Source(), name: "s")])
            }
        }
    }

    /// A source that can be opened again.
    private struct Source: BodySource {
        var length: Int64? { Int64(content.count) }

        func open() -> any BodyReader { Reader() }

        private final class Reader: BodyReader {
            private var rest = content[...]

            func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
                let piece = rest.prefix(buffer.count)
                rest = rest.dropFirst(piece.count)
                return piece.copyBytes(to: buffer)
            }
        }
    }

    private struct Post: TargetType {
        var baseURL: URL
        var path: RequestPath = "/order"
        var method = HTTPMethod.post
        var task = HTTPTask.plain
        var options = CallOptions()
    }

    private static let content = Data(repeating: 65, count: 100_000)

    private static func response(_ ending: Ending, location: String) -> TestServer.Response {
        switch ending {
        case .hangs: [.hang]
        case .closes: [.close]
        case .resets: [.reset]
        case .breaksOff: [.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]
        case .isBusy: .init(status: 503, headers: ["Retry-After": "0"])
        case .rejects: .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"b\""])
        case .redirects: .init(status: 303, headers: ["Location": location])
        }
    }

    @Test(
        "Each server receives it once, complete, whatever comes then and whichever plugins could repeat it",
        arguments: Ending.allCases,
        Body.allCases
    )
    func once(ending: Ending, body: Body) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "body")
        try Self.content.write(to: file)
        let posts = Recorder<Data>()
        let last = Locked("")
        // The second server closes a connection that it has kept open.
        let second = try TestServer { request in
            guard request.method == .post else {
                return request.path == "/warm" ? .init(status: 200) : [.hang]
            }
            posts.append(request.body)
            return Self.response(ending, location: last.withLock(\.self))
        }
        last.withLock { $0 = second.baseURL.absoluteString + "/receipt" }
        let first = try TestServer { request in
            posts.append(request.body)
            return .init(
                status: body == .data ? 307 : 308,
                headers: ["Location": second.baseURL.absoluteString + "/order"]
            )
        }
        let retry = RetryPlugin(policy: RetryPolicy(attempts: 3, baseDelay: .milliseconds(1)))
        let transport = SystemTransport.another()
        let provider = Provider<Post>(
            transport: transport,
            plugins: [
                retry, HedgingPlugin(after: .milliseconds(1), budgetOf: retry),
                HostFailoverPlugin(hosts: [first.baseURL, second.baseURL]), WaitsForConnectivityPlugin(Reachability()),
                CredentialsPlugin { _ in URLCredential(user: "u", password: "p", persistence: .none) },
            ],
            options: CallOptions().setting(\.timeout, .exchange(.milliseconds(400)))
        )
        let warm = Post(baseURL: second.baseURL, path: "/warm", method: .get)
        _ = try await Provider<Post>(transport: transport).request(warm)
        let error = await #expect(throws: TargetKitError.self) {
            let target = Post(baseURL: first.baseURL, task: body.task(file))
            _ = try await provider.request(target)
        }
        let bodies = posts.elements
        // A server that rejects the credential hasn't processed the request.
        #expect(bodies.count <= 2, "\(bodies.count) posts, \(String(describing: error))")
        #expect(Set(bodies).count == 1)
        #expect(bodies.allSatisfy { $0.count >= Self.content.count })
    }
}
