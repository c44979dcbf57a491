// SPDX-License-Identifier: MIT
import AsyncHTTPClient
import CurlMulti
import Foundation
import Measuring
import TargetKit
import TargetKitTransfers

/// A download of 1 GB, streamed and to a file, against C on libcurl that discards what it gets.
struct DownloadFigures {
    private struct Download: TargetType {
        let baseURL: URL
        var task = HTTPTask.plain
        var path: RequestPath { "/1GB" }
    }

    private static let size = 1_000_000_000

    let server: URL

    func add(to table: Table) async throws {
        let url = server.absoluteString + "/1GB"
        guard curl_download(url, nil) == 0 else {
            print("There is no \(url): truncate -s 1GB /tmp/benchmark-nginx/1GB")
            return
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "targetkit-download-\(getpid())")
        defer { try? FileManager.default.removeItem(at: file) }
        let provider = Provider<Download>(transport: CurlTransport())
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let race = try await Race(
            rounds: 8,
            [
                { try await stream(provider) },
                { keep(try await provider.request(Download(baseURL: server, task: .download(to: file)))) },
                { try await stream(client, url) },
                { guard curl_download(url, nil) == 0 else { throw URLError(.badServerResponse) } },
                {
                    let task = HTTPTask.download(to: .file(file).resumable)
                    keep(try await provider.request(Download(baseURL: server, task: task)))
                },
                { try await streamOnMainActor(provider) },
                { guard curl_download(url, file.path) == 0 else { throw URLError(.cannotWriteToFile) } },
            ]
        )
        try await client.shutdown()
        add("1 GB streamed, by C on libcurl that discards", race, 0, by: 3, goal: .atLeast(0.6), to: table)
        add("the same, read on the main actor", race, 5, by: 3, goal: .atLeast(0.6), to: table)
        add("1 GB to a file, by C on libcurl that writes", race, 1, by: 6, goal: .atLeast(0.95), to: table)
        add("1 GB streamed by async-http-client, by the same", race, 2, by: 3, to: table)
        add("1 GB streamed, by async-http-client", race, 0, by: 2, goal: .atLeast(1.2), to: table)
        add("the same, read on the main actor", race, 5, by: 2, goal: .atLeast(1.2), to: table)
        add("1 GB to a file, by async-http-client streamed", race, 1, by: 2, to: table)
        add("1 GB to a file that is resumable, by the one that is not", race, 4, by: 1, to: table)
        addSwitches("1 GB streamed: context switches", try await switches { try await stream(provider) }, to: table)
        let main = try await switches { try await streamOnMainActor(provider) }
        addSwitches("the same, read on the main actor", main, to: table)
    }

    /// The voluntary context switches of this process, in several rounds.
    private func switches(_ work: () async throws -> Void) async throws -> [Int] {
        var counts: [Int] = []
        for _ in 0..<roundCount(8) {
            let before = ProcessFigures.contextSwitches
            try await work()
            counts.append(ProcessFigures.contextSwitches - before)
        }
        return counts
    }

    private func addSwitches(_ what: String, _ counts: [Int], to table: Table) {
        let rounds = Rounds(counts.map(Double.init))
        table.add(what, "\(Int(rounds.median))", rounds: rounds, goal: .atMost(4000))
    }

    /// Adds the ratio of two contenders' rates.
    private func add(
        _ what: String,
        _ race: Race,
        _ own: Int,
        by peer: Int,
        goal: Table.Goal = .none,
        to table: Table
    ) {
        let texts = [own, peer].map { rateText(race.best[$0]) }
        table.add(what, texts[0], texts[1], rounds: race.rateRatios(own, by: peer), goal: goal)
    }

    private func rateText(_ seconds: Double) -> String {
        "\(Int(Double(Self.size) / seconds / 1e6)) MB/s"
    }

    private func stream(_ provider: Provider<Download>) async throws {
        var count = 0
        for try await piece in try await provider.stream(Download(baseURL: server)) { count += piece.count }
        guard count == Self.size else { throw URLError(.networkConnectionLost) }
    }

    @MainActor
    private func streamOnMainActor(_ provider: Provider<Download>) async throws {
        var count = 0
        for try await piece in try await provider.stream(Download(baseURL: server)) { count += piece.count }
        guard count == Self.size else { throw URLError(.networkConnectionLost) }
    }

    private func stream(_ client: HTTPClient, _ url: String) async throws {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        guard count == Self.size else { throw URLError(.networkConnectionLost) }
    }
}
