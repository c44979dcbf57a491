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
        let (best, curl) = (race.best, race.best[3])
        add("1 GB streamed, by C on libcurl that discards", best[0], curl, goal: .atLeast(0.6), to: table)
        add("the same, read on the main actor", best[5], curl, goal: .atLeast(0.6), to: table)
        add("1 GB to a file, by C on libcurl that writes", best[1], best[6], goal: .atLeast(0.95), to: table)
        add("1 GB streamed by async-http-client, by the same", best[2], curl, goal: .none, to: table)
        add("1 GB streamed, by async-http-client", best[0], best[2], goal: .atLeast(1.2), to: table)
        add("the same, read on the main actor", best[5], best[2], goal: .atLeast(1.2), to: table)
        add("1 GB to a file, by async-http-client streamed", best[1], best[2], goal: .none, to: table)
        add("1 GB to a file that is resumable, by the one that is not", best[4], best[1], goal: .none, to: table)
    }

    /// Adds a rate as a ratio to the peer's.
    private func add(_ what: String, _ seconds: Double, _ peer: Double, goal: Table.Goal, to table: Table) {
        table.add(what, rateText(seconds), rateText(peer), figure: peer / seconds, goal: goal)
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
