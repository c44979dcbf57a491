// SPDX-License-Identifier: MIT
import CurlMulti
import Foundation
import Measuring
import TargetKit
import Workloads

/// The time from the start of a process to the end of its first call: `network start`.
struct StartFigures {
    /// What the process uses for its call.
    private enum Client: String, CaseIterable {
        case targetKit = "TargetKit"
        case session = "raw URLSession"
        case curl = "C on libcurl"
        /// No call: what the program and its libraries take to load.
        case none = "no call"
    }

    private static let rounds = 25

    let server: URL

    /// Makes the call of one of the measured processes; returns whether this is one.
    func runIfMeasured() async throws -> Bool {
        guard let name = ProcessInfo.processInfo.environment["TARGETKIT_FIRST_CALL"],
            let client = Client(rawValue: name)
        else { return false }
        switch client {
        case .targetKit: keep(try await Provider<Ping>(transport: CurlTransport()).request(Ping(baseURL: server)))
        case .session: keep(try await RawSession().data(from: server))
        case .curl:
            guard curl_multi_gets(server.absoluteString + "/", nil, 1, 1) == 0 else {
                throw URLError(.badServerResponse)
            }
        case .none: break
        }
        return true
    }

    func add(to table: Table) throws {
        var times: [Client: [Double]] = [:]
        for _ in 0..<roundCount(Self.rounds) {
            for client in Client.allCases { times[client, default: []].append(try time(of: client)) }
        }
        let own = times[.targetKit] ?? []
        for peer in Client.allCases where peer != .targetKit {
            let other = times[peer] ?? []
            table.add(
                "from the start to the first response",
                timeText(Rounds(own).median),
                "\(timeText(Rounds(other).median)) \(peer.rawValue)",
                rounds: Rounds(own, by: other),
                goal: peer == .session ? .atMost(0.9) : .none
            )
        }
    }

    private func time(of client: Client) throws -> Double {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["start"]
        process.environment = ProcessInfo.processInfo.environment.merging(["TARGETKIT_FIRST_CALL": client.rawValue]) {
            $1
        }
        let time = try ContinuousClock().measure {
            try process.run()
            process.waitUntilExit()
        }
        guard process.terminationStatus == 0 else { throw URLError(.badServerResponse) }
        return time.inSeconds
    }
}
