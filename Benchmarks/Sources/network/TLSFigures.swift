// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import Foundation
import Measuring
import TargetKit

/// Calls over TLS: on connections that stay, with a connection for each call, and over HTTP/2.
///
/// TargetKit and the C program check the server's certificate, async-http-client does not.
struct TLSFigures {
    private static let rounds = 12

    /// A server of `nginx-tls.conf`.
    private enum Server: Int {
        case kept = 8767
        case multiplexed = 8768
        case closing = 8769

        var url: URL? { URL(string: "https://localhost:\(rawValue)") }
    }

    private let authority: URL
    private let client: HTTPClient

    init() {
        let folder = ProcessInfo.processInfo.environment["TARGETKIT_NGINX_TLS_FOLDER"] ?? "/tmp/benchmark-nginx-tls"
        authority = URL(filePath: folder).appending(path: "server.pem")
        var configuration = HTTPClient.Configuration(certificateVerification: .none)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func add(to table: Table) async throws {
        do {
            try await add("kept alive, 64 in flight", .kept, inFlight: 64, calls: 4_000, .atLeast(1.4), nil, to: table)
            try await add("kept alive, one by one", .kept, inFlight: 1, calls: 1_000, .none, nil, to: table)
            try await add("a connection each", .closing, inFlight: 8, calls: 400, .none, .atLeast(1.05), to: table)
            try await add(
                "HTTP/2, 64 in flight",
                .multiplexed,
                inFlight: 64,
                calls: 4_000,
                .atLeast(1.8),
                nil,
                to: table
            )
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// - Parameters:
    ///   - goal: For the rate by async-http-client's.
    ///   - goalByC: For the rate by the C program's; `nil` without this line.
    private func add(
        _ title: String,
        _ server: Server,
        inFlight: Int,
        calls: Int,
        _ goal: Table.Goal,
        _ goalByC: Table.Goal?,
        to table: Table
    ) async throws {
        guard let url = server.url else { throw URLError(.badURL) }
        let transport = CurlTransport(tls: TLSPolicy(trust: .authoritiesFile(authority)))
        var contenders = [
            Contender.awaited("TargetKit", Provider(transport: transport), url), .asyncHTTPClient(url, client),
        ]
        if goalByC != nil { contenders.append(.libcurl(url, authority: authority)) }
        var perSecond = contenders.map { _ in [Double]() }
        var cpu = perSecond
        for contender in contenders { try await contender.run(inFlight, calls / 4) }
        for _ in 0..<roundCount(Self.rounds) {
            for (index, contender) in contenders.enumerated() {
                let before = ProcessFigures.cpuSeconds
                let time = try await ContinuousClock().measure { try await contender.run(inFlight, calls) }
                cpu[index].append((ProcessFigures.cpuSeconds - before) / Double(calls))
                perSecond[index].append(Double(calls) / time.inSeconds)
            }
        }
        for (index, goal) in [(1, goal), (2, goalByC ?? .none)] where index < contenders.count {
            table.add(
                "TLS, \(title): rate",
                "\(Int(Rounds(perSecond[0]).median))/s",
                "\(Int(Rounds(perSecond[index]).median))/s \(contenders[index].name)",
                rounds: Rounds(perSecond[0], by: perSecond[index]),
                goal: goal
            )
            table.add(
                "TLS, \(title): CPU",
                timeText(Rounds(cpu[0]).median),
                "\(timeText(Rounds(cpu[index]).median)) \(contenders[index].name)",
                rounds: Rounds(cpu[0], by: cpu[index])
            )
        }
    }
}
