// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the pages about downloads, compiled and run.
@Suite("Pages: Downloads", .throttled, .timeLimit(.minutes(2)))
struct DownloadsPageTests {
    private let temporary: TemporaryFolder
    private let provider: Provider<Archive>
    private var folder: URL { temporary.url }

    init() throws {
        temporary = try TemporaryFolder()
        let body = SampleResponse.response(status: 200, data: Data("tea".utf8))
        provider = Provider(transport: StubTransport(body))
    }

    @Test("A folder numbers the files, and a resumable download is stored")
    func destinations() async throws {
        _ = try temporary.file("7")
        let response = try await provider.request(.report(id: 7, to: folder))
        print(response.file?.lastPathComponent ?? "no file")
        #expect(response.file == folder.appendingPathComponent("7 2"))
        let file = folder.appendingPathComponent("film")
        let film = try await provider.request(.film(to: file))
        #expect(film.file == file)
        #expect(Set(temporary.names) == ["7", "7 2", "film"])
    }

    @Test("A handle pauses a download, and a file is stored from several ranges")
    @MainActor
    func handles() async throws {
        let file = folder.appendingPathComponent("film")
        let shown = Recorder<Result<Response, TargetKitError>>()
        func show(_ fraction: Double?) {}
        func show(_ result: Result<Response, TargetKitError>) { shown.append(result) }
        let handle = provider.request(.film(to: file), progress: { show($0.fraction) }) { show($0) }
        handle.pause()
        handle.resume()
        #expect(try await shown.element(0).get().file == file)
        let task = HTTPTask.download(to: .file(file).segments(4))
        let sample = SampleResponse.response(status: 200, data: Data("tea".utf8))
        let stored = try await Provider<URLTarget>(transport: StubTransport(sample)).request(
            URLTarget(server, task: task)
        )
        #expect(stored.file == file)
    }

    @Test(
        "Every line of Swift on the pages is a line of this file",
        arguments: ["TargetKit/TargetKit.docc/Downloads.md", "Transfers/TargetKitTransfers.docc/ResumableDownloads.md"]
    )
    func everySnippetIsHere(page: String) throws {
        let known = try DocumentationPage.lines(at: "Tests/TransfersTests/Pages/DownloadsPageTests.swift")
        let lines = try DocumentationPage("Sources/" + page).lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }
}

private let server = URL(string: "https://archive.example") ?? URL(filePath: "/")

enum Archive: RoutedTarget {
    case report(id: Int, to: URL)
    case film(to: URL)

    var baseURL: URL { server }

    var route: Route {
        switch self {
        case .report(let id, let folder): .get("/reports/\(id)", .download(to: .folder(folder).existingFile(.number)))
        case .film(let file): .get("/film", .download(to: .file(file).resumable))
        }
    }
}
