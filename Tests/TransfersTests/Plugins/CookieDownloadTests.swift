// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// A part is continued only with the cookies of the user whose bytes it has.
@Suite("Cookies of downloads", .throttled, .timeLimit(.minutes(2)))
struct CookieDownloadTests {
    private static let size = 300_000
    private static let cut = 120_001

    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Files of two users, with equal validators.
    private static func content(_ number: Int, size: Int = size) -> ServedFile {
        ServedFile(size: size, seed: UInt64(number + 1), validators: ["ETag": "\"v1\""])
    }

    /// A server whose first response is cut. A request gets the second user's file if one of its fields has the word.
    private func server(_ word: String) throws -> TestServer {
        try TestServer { request in
            let isSecond = request.headers.contains { $0.value.contains(word) }
            return Self.content(isSecond ? 1 : 0).response(to: request, cut: request.index < 1 ? Self.cut : nil)
        }
    }

    private func target(_ server: TestServer, segments: Int = 1) -> PluginTarget {
        PluginTarget(baseURL: server.baseURL).with {
            $0.task = .download(to: .file(file).segments(segments))
            $0.validation = .successCodes
        }
    }

    private func provider(_ cookies: CookieStore) -> Provider<PluginTarget> {
        Provider(transport: SystemTransport.patient, plugins: [CookiePlugin(cookies)])
    }

    private func ranges(_ server: TestServer) -> [String?] { server.requests.map { $0.headers["Range"] } }

    @Test("A part that was requested with another cookie of the store is dropped")
    func cookies() async throws {
        let server = try server("bob")
        let cookies = CookieStore()
        let provider = provider(cookies)
        for user in ["alice", "bob"] {
            cookies.store(["org=\(user)"], from: server.baseURL)
            _ = try? await provider.request(target(server))
        }
        #expect(ranges(server).prefix(2) == [nil, nil])
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test("A part whose redirected request had another cookie is dropped")
    func redirectedCookies() async throws {
        let content = try server("bob")
        let first = try TestServer { _ in .redirect(to: content.baseURL.appending(path: "file").absoluteString) }
        let cookies = CookieStore()
        let provider = provider(cookies)
        for user in ["alice", "bob"] {
            cookies.store(["org=\(user); path=/file"], from: content.baseURL)
            _ = try? await provider.request(target(first))
        }
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test("Ranges are requested with the cookies of the first request, although each response sets others")
    func rollingCookies() async throws {
        let content = Self.content(0, size: 4 << 20)
        let server = try TestServer { request in
            var content = content
            content.validators.add("Set-Cookie", value: "balancer=\(request.index)")
            return content.response(to: request)
        }
        let cookies = CookieStore()
        cookies.store(["org=alice"], from: server.baseURL)
        _ = try await provider(cookies).request(target(server, segments: 4))
        // On a busy machine the download sometimes begins again, with the cookies of a later response.
        withKnownIssue(isIntermittent: true) {
            #expect(server.requestCount == 4)
            #expect(server.requests.allSatisfy { $0.headers["Cookie"] == "org=alice" })
        }
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A call whose cookies change with each response does not begin again for ever")
    func endless() async throws {
        let content = Self.content(0, size: 4 << 20)
        let server = try TestServer { request in
            guard request.headers["Range"] == nil else { return TestServer.Response(status: 503) }
            var content = content
            content.validators.add("Set-Cookie", value: "balancer=\(request.index)")
            return content.response(to: request)
        }
        let provider = provider(CookieStore())
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target(server, segments: 4)) }
        #expect(server.requests.count { $0.headers["Range"] == nil } <= 4)
    }
}
