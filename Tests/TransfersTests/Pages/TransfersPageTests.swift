// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

@Suite("Page: transfers", .throttled, .timeLimit(.minutes(2)))
struct TransfersPageTests {
    enum Media: TargetType, Codable {
        case film(Int)
        case photo(URL)

        var baseURL: URL { .media }

        var method: HTTPMethod {
            switch self {
            case .film: .get
            case .photo: .post
            }
        }

        var path: RequestPath {
            switch self {
            case .film(let number): "/films/\(number)"
            case .photo: "/photos"
            }
        }

        var task: HTTPTask {
            switch self {
            case .film(let number): .download(to: .file(.films.appending(path: "\(number).mp4")).resumable)
            case .photo(let file): .upload(file: file).resumable(.tus)
            }
        }
    }

    @Test("A queue of downloads and uploads")
    func queue() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let shown = Recorder<Int>()
        let show = { @Sendable (transfers: [Transfer<Media>]) in shown.append(transfers.count) }
        let transport = StubTransport(.response(status: 200, data: Data("film".utf8)))
        let reachability = Reachability(ManualConnectivity(.online(.wifi, isExpensive: false)))
        let queue = try TransferQueue(
            Provider<Media>(transport: transport, plugins: [RetryPlugin()]),
            storedIn: folder.appending(path: "media.queue"),
            options: .setting(\.allowsExpensive, false),
            reachability: reachability
        )
        let film = try await queue.add(.film(7), priority: .high)
        let showing = Task {
            for await transfers in queue.updates { show(transfers) }
        }
        let response = try await queue.response(of: film)
        #expect(response.file.flatMap { try? Data(contentsOf: $0) } == Data("film".utf8))
        // The stub does not support tus, so the photo is a plain upload.
        let photo = try await queue.add(.photo(temporary.file("photo", Data("photo".utf8))))
        #expect(try await queue.response(of: photo).statusCode == 200)
        await shown.waitForCount(1)
        showing.cancel()
    }
}

extension URL {
    fileprivate static let media = URL(string: "https://media.example") ?? URL(filePath: "/")
    fileprivate static let films = FileManager.default.temporaryDirectory.appending(path: "films-\(UUID())")
}
