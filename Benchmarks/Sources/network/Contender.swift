// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import AsyncHTTPClientTransport
import CurlMulti
import Foundation
import Measuring
import Workloads
import TargetKit

/// One way to get the server's root.
struct Contender: Sendable {
    let name: String
    /// The calls of a round with 64 in flight; a round of one call after another has a quarter of them.
    let calls: Int
    let run: @Sendable (_ inFlight: Int, _ calls: Int) async throws -> Void

    init(
        _ name: String,
        calls: Int = 10_000,
        run: @escaping @Sendable (_ inFlight: Int, _ calls: Int) async throws -> Void
    ) {
        self.name = name
        self.calls = calls
        self.run = run
    }
}

extension Contender {
    static func targetKit(_ server: URL) -> Contender {
        awaited("TargetKit", Provider(transport: CurlTransport()), server)
    }

    static func fourPlugins(_ server: URL) -> Contender {
        awaited("four plugins", Provider(transport: CurlTransport(), plugins: PluginSet.withLogger), server)
    }

    static func urlSessionTransport(_ server: URL) -> Contender {
        awaited("URLSessionTransport", Provider(transport: URLSessionTransport()), server, calls: 1000)
    }

    static func asyncHTTPClientTransport(_ server: URL, _ client: HTTPClient) -> Contender {
        awaited("AsyncHTTPClientTransport", Provider(transport: AsyncHTTPClientTransport(client)), server)
    }

    static func awaited(
        _ name: String,
        _ provider: Provider<Ping>,
        _ server: URL,
        calls: Int = 10_000
    ) -> Contender {
        let target = Ping(baseURL: server)
        return Contender(name, calls: calls) { inFlight, calls in
            try await makeCalls(calls, inFlight: inFlight) { keep(try await provider.request(target).data.count) }
        }
    }

    /// Each call starts in the completion of the one before.
    static func closure(_ server: URL) -> Contender {
        let provider = Provider<Ping>(transport: CurlTransport())
        let target = Ping(baseURL: server)
        let queue = DispatchQueue(label: "network")
        return Contender("closure") { inFlight, calls in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<inFlight {
                    group.addTask {
                        try await withCheckedThrowingContinuation { continuation in
                            @Sendable func call(_ left: Int) {
                                guard left > 0 else { return continuation.resume() }
                                provider.request(target, on: queue) { result in
                                    if case .failure(let error) = result { return continuation.resume(throwing: error) }
                                    call(left - 1)
                                }
                            }
                            call(calls / inFlight)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    static func rawSession(_ server: URL) -> Contender {
        let session = RawSession()
        return Contender("raw URLSession", calls: 1000) { inFlight, calls in
            try await makeCalls(calls, inFlight: inFlight) { keep(try await session.data(from: server).count) }
        }
    }

    static func asyncHTTPClient(_ server: URL, _ client: HTTPClient) -> Contender {
        let text = text(of: server)
        return Contender("async-http-client") { inFlight, calls in
            try await makeCalls(calls, inFlight: inFlight) {
                let response = try await client.execute(HTTPClientRequest(url: text), timeout: .seconds(60))
                guard response.status == .ok else { throw URLError(.badServerResponse) }
                keep(try await response.body.collect(upTo: 1 << 20))
            }
        }
    }

    /// - Parameter authority: The file with the certificate that is trusted; `nil` without TLS.
    static func libcurl(_ server: URL, authority: URL? = nil) -> Contender {
        let text = text(of: server)
        return Contender("C on libcurl") { inFlight, calls in
            guard curl_multi_gets(text, authority?.path, Int32(inFlight), calls) == 0 else {
                throw URLError(.badServerResponse)
            }
        }
    }

    private static func text(of server: URL) -> String {
        server.absoluteString + (server.path.isEmpty ? "/" : "")
    }
}
