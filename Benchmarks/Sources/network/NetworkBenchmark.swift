// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// Calls over a connection: `network`, or one of `network download`, `network cancel`, `network
/// tls`, `network start` and `network soak`.
@main
struct NetworkBenchmark {
    static func main() async throws {
        let name = ProcessInfo.processInfo.environment["TARGETKIT_NGINX"] ?? "http://127.0.0.1:8766"
        guard let server = URL(string: name) else { throw URLError(.badURL) }
        let table: Table
        switch CommandLine.arguments.dropFirst().first(where: { !$0.hasPrefix("-") }) {
        case nil:
            table = Table("Requests to nginx at \(name)")
            try await ThroughputFigures(server: server).add(to: table)
            try await WaitingFigures(server: server).add(to: table)
            try await DownloadFigures(server: server).add(to: table)
        case "download":
            table = Table("Downloads from nginx at \(name)")
            try await DownloadFigures(server: server).add(to: table)
        case "cancel":
            table = Table("Calls in flight to a server that never answers")
            try await CancelFigures().add(to: table)
        case "tls":
            table = Table("Requests over TLS")
            try await TLSFigures().add(to: table)
        case "start":
            let figures = StartFigures(server: server)
            if try await figures.runIfMeasured() { return }
            table = Table("From the start of a process to its first response, from nginx at \(name)")
            try figures.add(to: table)
        case "soak":
            table = Table("Many calls to nginx at \(name)")
            try await SoakFigures(server: server).add(to: table)
        case .some(let other):
            print("There is no “\(other)”: network [download | cancel | tls | start | soak] [--check]")
            exit(2)
        }
        table.finish()
    }
}
