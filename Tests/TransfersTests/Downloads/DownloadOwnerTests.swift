// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
import TargetKitPlugins
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A part is continued only for the user whose bytes it has.
@Suite("Downloads: whose part it is", .throttled, .timeLimit(.minutes(2)))
struct DownloadOwnerTests {
    private static let size = 300_000
    private static let cut = 120_001

    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Files of two users, with equal validators.
    private static func content(_ number: Int, fields: HTTPHeaders = [:], size: Int = size) -> ServedFile {
        ServedFile(size: size, seed: UInt64(number + 1), validators: fields.merging(["ETag": "\"v1\""]))
    }

    /// A server whose first responses are cut. A request gets the second user's file if it has one of the words.
    private func server(
        _ words: String...,
        cuts: Int = 1,
        size: Int = size,
        fields: HTTPHeaders = [:]
    ) throws -> TestServer {
        try TestServer { request in
            let isSecond = request.headers.contains { field in words.contains { field.value.contains($0) } }
            let content = Self.content(isSecond ? 1 : 0, fields: fields, size: size)
            return content.response(to: request, cut: request.index < cuts ? Self.cut : nil)
        }
    }

    private func target(
        _ server: TestServer,
        _ headers: HTTPHeaders = [:],
        segments: Int = 1
    ) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: .file(file).segments(segments))
            $0.validation = .successCodes
            $0.headers = headers
        }
    }

    private func ranges(_ server: TestServer) -> [String?] { server.requests.map { $0.headers["Range"] } }

    /// Adds a field, whose value can change: at ``PluginPlace/signing`` to each exchange, otherwise to each request.
    private struct Adding: Plugin {
        let place: PluginPlace
        let secretHeaders: Set<HTTPHeaderName> = ["X-Own"]
        let field: @Sendable (RequestContext) -> (name: String, value: String)
        let session: (@Sendable () -> String)?
        let retries: Bool

        init(
            at place: PluginPlace = .authentication,
            _ field: @escaping @Sendable (RequestContext) -> (name: String, value: String),
            session: (@Sendable () -> String)? = nil,
            retries: Bool = true
        ) {
            self.place = place
            self.field = field
            self.session = session
            self.retries = retries
        }

        /// The plugin without retries.
        var unretried: Adding { Adding(at: place, field, session: session, retries: false) }

        func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
            let request = place == .signing ? request : added(to: request, context)
            if let session {
                context.credentialOwner = CredentialOwner(identifier: session(), fields: [.authorization])
            }
            return request
        }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            var request = request
            if place == .signing { request.urlRequest = added(to: request.urlRequest, context) }
            return try await next(request)
        }

        private func added(to request: URLRequest, _ context: RequestContext) -> URLRequest {
            var request = request
            let (name, value) = field(context)
            request.setValue(value, forHTTPHeaderField: name)
            return request
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard retries, case .failure(let error) = result, error.kind == .connectionLost else { return .doNotRetry }
            return .retry(after: .zero)
        }
    }

    private func provider(_ plugins: [any Plugin] = []) -> Provider<TestTarget> {
        Provider(transport: SystemTransport.patient, plugins: plugins)
    }

    // MARK: Secrets

    @Test(
        "A part that was requested with another secret is dropped, and the download begins anew",
        arguments: [
            (["Authorization": "alice"], ["Authorization": "bob"]),
            (["Authorization": "alice"], ["authorization": "bob"]),
            ([:], ["Authorization": "bob"]),
            (["Authorization": "bob"], [:]),
            (["Cookie": "org=alice"], ["Cookie": "org=bob"]),
            (["X-Api-Key": "alice"], ["X-Api-Key": "bob"]),
            (["X-Session-Token": "alice"], ["X-Session-Token": "bob"]),
            (["Authorization": "alice", "Cookie": "org=1"], ["Authorization": "alice", "Cookie": "org=bob"]),
        ] as [(HTTPHeaders, HTTPHeaders)],
        [1, 3]
    )
    func otherSecret(users: (HTTPHeaders, HTTPHeaders), segments: Int) async throws {
        let size = segments == 1 ? Self.size : 4 << 20
        let isCut = Locked(true)
        let server = try TestServer { request in
            let isSecond = request.headers.contains { $0.value.contains("bob") }
            let cut = isCut.withLock(\.self) ? Self.cut : nil
            return Self.content(isSecond ? 1 : 0, size: size).response(to: request, cut: cut)
        }
        let provider = provider()
        _ = await #expect(throws: TargetKitError.self) {
            try await provider.request(target(server, users.0, segments: segments))
        }
        isCut.withLock { $0 = false }
        _ = try await provider.request(target(server, users.1, segments: segments))
        let isSecond = users.1.contains { $0.value.contains("bob") }
        // Requests of the first call for other segments may still arrive.
        let first = server.requests.first { $0.headers.contains { $0.value.contains("bob") } == isSecond }
        #expect(try #require(first).headers["Range"] == nil)
        #expect(try Data(contentsOf: file).whole == Self.content(isSecond ? 1 : 0, size: size).data.whole)
        #expect(folder.names == ["file.bin"])
    }

    @Test("A part that was requested with another value of a plugin's secret field is dropped")
    func pluginsSecret() async throws {
        let server = try server("bob")
        for user in ["alice", "bob"] {
            _ = try? await provider([Adding({ _ in ("X-Own", user) }, retries: false)]).request(target(server))
        }
        #expect(ranges(server).prefix(2) == [nil, nil])
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test("A part is continued with equal secrets after a launch, and the disk has none of them")
    func equalSecrets() async throws {
        let server = try server()
        let headers: HTTPHeaders = ["Authorization": "s3cret-1", "Cookie": "a=s3cret-2", "X-Api-Key": "s3cret-3"]
        _ = await #expect(throws: TargetKitError.self) { try await provider().request(target(server, headers)) }
        for name in folder.names {
            let data = try Data(contentsOf: folder.url.appendingPathComponent(name))
            #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
        }
        _ = try await provider().request(target(server, headers))
        #expect(ranges(server) == [nil, "bytes=\(Self.cut)-"])
        #expect(try Data(contentsOf: file).whole == Self.content(0).data.whole)
    }

    @Test("The records of two parts with equal secrets are different")
    func salt() async throws {
        let server = try server(cuts: 2)
        var records: Set<String> = []
        for name in ["a", "b"] {
            let target = target(server, ["Authorization": "alice"]).with {
                $0.task = .download(to: .file(folder.url.appendingPathComponent(name)).resumable)
            }
            _ = await #expect(throws: TargetKitError.self) { try await provider().request(target) }
            let record = try #require(folder.names.first { $0.hasPrefix(".\(name)") && $0.hasSuffix(".json") })
            records.insert(try String(contentsOf: folder.url.appendingPathComponent(record), encoding: .utf8))
        }
        #expect(records.count == 2)
    }

    // MARK: Within a call

    @Test("A call that is paused by one user and resumed by another begins anew")
    func paused() async throws {
        let server = try TestServer { request in
            let isBob = request.headers["Authorization"] == "bob"
            let content = Self.content(isBob ? 1 : 0)
            if isBob { return content.response(to: request) }
            let head = content.validators.merging(["Content-Length": "\(Self.size)"])
            return [.head(status: 200, headers: head), .body(content.data.prefix(Self.cut)), .hang]
        }
        let user = Locked("alice")
        let provider = provider([Adding { _ in ("Authorization", user.withLock(\.self)) }])
        let (steps, results) = (Recorder<Int64>(), Recorder<Result<Response, TargetKitError>>())
        let handle = provider.request(target(server), on: DispatchQueue(label: "test")) {
            steps.append($0.completed)
        } completion: {
            results.append($0)
        }
        while (folder.names.first { $0.hasSuffix(".download") }).map({ size(of: $0) }) != Self.cut {
            try Task.checkCancellation()
            await Task.yield()
        }
        handle.pause()
        await server.waitForConnections(closed: 1)
        user.withLock { $0 = "bob" }
        handle.resume()
        #expect(try await results.waitForCount(1)[0].get().file == file)
        #expect(ranges(server) == [nil, nil])
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    private func size(of name: String) -> Int {
        (try? Data(contentsOf: folder.url.appendingPathComponent(name)).count) ?? 0
    }

    @Test(
        "A refreshed credential of the same session continues, and that of another session begins anew",
        arguments: [true, false],
        [true, false]
    )
    func refreshed(isSameSession: Bool, isOneCall: Bool) async throws {
        let server = try server("2", cuts: 1)
        let number = Locked(0)
        let plugin = Adding { _ in
            ("Authorization", "token \(number.withLock { $0 += 1; return $0 })")
        } session: {
            isSameSession ? "alice" : "user \(number.withLock(\.self))"
        }
        if isOneCall {
            _ = try await provider([plugin]).request(target(server))
        } else {
            let unretried = Adding(plugin.field, session: plugin.session, retries: false)
            _ = try? await provider([unretried]).request(target(server))
            _ = try await provider([plugin]).request(target(server))
        }
        #expect(ranges(server) == [nil, isSameSession ? "bytes=\(Self.cut)-" : nil])
    }

    @Test("A session stands for the fields of its credential only")
    func fieldsOfSession() async throws {
        let server = try server("bob")
        for user in ["alice", "bob"] {
            let plugin = Adding({ _ in ("Authorization", "token") }, session: { "session" }, retries: false)
            _ = try? await provider([plugin]).request(target(server, ["Cookie": "org=\(user)"]))
        }
        #expect(ranges(server).prefix(2) == [nil, nil])
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test("A signature that is different for each request continues within a call, and not in another one")
    func signatures() async throws {
        let number = Locked(0)
        let signing = Adding(at: .signing) { _ in
            ("X-Own", "signature \(number.withLock { $0 += 1; return $0 })")
        }
        let server = try server(cuts: 2)
        _ = try await provider([signing]).request(target(server))
        #expect(ranges(server) == [nil, "bytes=\(Self.cut)-", "bytes=\(2 * Self.cut)-"])
        #expect(try Data(contentsOf: file).whole == Self.content(0).data.whole)

        let other = try self.server("bob")
        for user in ["alice", "bob"] {
            let plugin = Adding(at: .signing, { _ in ("X-Own", user) }, retries: false)
            _ = try? await provider([plugin]).request(target(other))
        }
        #expect(ranges(other) == [nil, nil])
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test(
        "A signature beside another credential continues if that credential is the same user's",
        arguments: ["Authorization", "Cookie", "X-Api-Key"],
        [true, false]
    )
    func signatureBesideCredential(name: String, isSameUser: Bool) async throws {
        let number = Locked(0)
        let signing = Adding(
            at: .signing,
            { _ in ("X-Own", "signature \(number.withLock { $0 += 1; return $0 })") },
            retries: false
        )
        let server = try server("bob")
        for user in ["alice", isSameUser ? "alice" : "bob"] {
            _ = try? await provider([signing]).request(target(server, HTTPHeaders([name: "id=\(user)"])))
        }
        #expect(ranges(server) == [nil, isSameUser ? "bytes=\(Self.cut)-" : nil])
        #expect(try Data(contentsOf: file).whole == Self.content(isSameUser ? 0 : 1).data.whole)
    }

    @Test("A signature whose plugin names the user continues for that user only", arguments: [true, false], [1, 4])
    func signatureOfUser(isSameUser: Bool, segments: Int) async throws {
        let size = segments == 1 ? Self.size : 4 << 20
        let (isCut, number) = (Locked(true), Locked(0))
        let server = try TestServer { request in
            let isSecond = request.headers["X-Own"]?.contains("bob") == true
            let cut = isCut.withLock(\.self) ? Self.cut : nil
            return Self.content(isSecond ? 1 : 0, size: size).response(to: request, cut: cut)
        }
        func plugin(_ user: String) -> Adding {
            Adding(at: .signing) { _ in
                ("X-Own", "\(user) \(number.withLock { $0 += 1; return $0 })")
            } session: {
                user
            }
            .unretried
        }
        _ = await #expect(throws: TargetKitError.self) {
            try await provider([plugin("alice")]).request(target(server, segments: segments))
        }
        isCut.withLock { $0 = false }
        let count = server.requestCount
        let user = isSameUser ? "alice" : "bob"
        _ = try await provider([plugin(user)]).request(target(server, segments: segments))
        #expect(try Data(contentsOf: file).whole == Self.content(isSameUser ? 0 : 1, size: size).data.whole)
        if isSameUser, segments == 1 { #expect(ranges(server).dropFirst(count) == ["bytes=\(Self.cut)-"]) }
    }

    @Test("A part continues with another signature by the key of the same user", arguments: [true, false])
    func signingPlugin(isSameUser: Bool) async throws {
        let number = Locked(0)
        func signing(_ user: String) -> RequestSigningPlugin {
            RequestSigningPlugin(fields: ["Authorization"], owner: { _ in user }) { _, _ in
                ["Authorization": "Credential=\(user), Signature=\(number.withLock { $0 += 1; return $0 })"]
            }
        }
        let server = try server("bob")
        _ = await #expect(throws: TargetKitError.self) {
            try await provider([signing("alice")]).request(target(server))
        }
        _ = try await provider([signing(isSameUser ? "alice" : "bob")]).request(target(server))
        #expect(try Data(contentsOf: file).whole == Self.content(isSameUser ? 0 : 1).data.whole)
        #expect(ranges(server) == [nil, "bytes=\(Self.cut)-"] + (isSameUser ? [] : [nil]))
    }

    @Test("Stored bytes that are dropped are an event with the reason", arguments: [true, false])
    func droppedEvent(isOtherUser: Bool) async throws {
        let lines = Recorder<String>()
        let log = NetworkLoggerPlugin(output: { lines.append($0) })
        let server = try TestServer { request in
            let content = Self.content(0)
            if request.index == 1, !isOtherUser { return content.response(status: 200, content.data, [:]) }
            return content.response(to: request, cut: request.index == 0 ? Self.cut : nil)
        }
        _ = try? await provider([log]).request(target(server, ["Authorization": "alice"]))
        #expect(!lines.elements.contains { $0.contains("aren't continued") })
        _ = try await provider([log]).request(target(server, ["Authorization": isOtherUser ? "s3cret" : "alice"]))
        let dropped = lines.elements.filter { $0.contains("the stored bytes aren't continued") }
        #expect(dropped.count == 1)
        #expect(dropped.first?.contains(isOtherUser ? "other credentials" : "sent the whole file") == true)
        #expect(!lines.elements.contains { $0.contains("s3cret") })
    }

    @Test(
        "A file that is identified by a text continues at a new URL, and only with its version",
        arguments: [true, false]
    )
    func identified(isSameVersion: Bool) async throws {
        let server = try TestServer { request in
            let content = ServedFile(size: Self.size, seed: request.index > 0 && !isSameVersion ? 2 : 1)
            return content.response(to: request, cut: request.index == 0 ? Self.cut : nil)
        }
        func target(_ signature: String, _ name: String) -> TestTarget {
            self.target(server).with {
                $0.path = "/film"
                $0.task = .download(to: .folder(folder.url).resumable.identified(by: name)).query(["sig": signature])
            }
        }
        _ = await #expect(throws: TargetKitError.self) { try await provider().request(target("1", "film 7")) }
        let response = try await provider().request(target("2", "film 7"))
        #expect(ranges(server) == [nil, "bytes=\(Self.cut)-"])
        let place = try #require(response.file)
        #expect(
            try Data(contentsOf: place).whole == ServedFile(size: Self.size, seed: isSameVersion ? 1 : 2).data.whole
        )
        #expect(folder.names == ["film"])
    }

    @Test("A part without a signature is not continued with one")
    func newSignature() async throws {
        let server = try server("bob")
        _ = await #expect(throws: TargetKitError.self) { try await provider().request(target(server)) }
        let signing = Adding(at: .signing) { _ in ("X-Own", "bob") }
        _ = try await provider([signing]).request(target(server))
        #expect(try Data(contentsOf: file).whole == Self.content(1).data.whole)
    }

    @Test("Each range of a file is signed, and the file is complete")
    func signedSegments() async throws {
        let number = Locked(0)
        let signing = Adding(at: .signing) { _ in
            ("X-Own", "signature \(number.withLock { $0 += 1; return $0 })")
        }
        let server = try server(cuts: 0, size: 4 << 20)
        _ = try await provider([signing]).request(target(server, segments: 4))
        #expect(server.requestCount == 4)
        #expect(try Data(contentsOf: file).whole == Self.content(0, size: 4 << 20).data.whole)
    }

    // MARK: The response

    @Test(
        "A part is continued only if the request has the fields that its response depends on",
        arguments: [
            (["Vary": "X-Tenant"], ["X-Tenant": "1"], ["X-Tenant": "bob"], false),
            (["Vary": "Accept, x-tenant"], [:], ["X-Tenant": "bob"], false),
            (["Vary": "X-Tenant"], ["X-Tenant": "1", "X-Other": "1"], ["x-tenant": "1", "X-Other": "2"], true),
            (["Vary": "Range, If-Range, Accept-Encoding"], [:], [:], true),
            (["Vary": "*"], [:], [:], false),
            (["Cache-Control": "private"], ["X-User": "1"], ["X-User": "bob"], false),
            (["Cache-Control": "max-age=1, Private=\"a\""], ["X-User": "1"], ["X-User": "bob"], false),
            (["Cache-Control": "private"], ["X-Request-ID": "1"], ["X-Request-ID": "2"], true),
            (["Cache-Control": "public"], ["X-User": "1"], ["X-User": "2"], true),
        ] as [(HTTPHeaders, HTTPHeaders, HTTPHeaders, Bool)]
    )
    func fields(response: HTTPHeaders, first: HTTPHeaders, second: HTTPHeaders, continues: Bool) async throws {
        let server = try server("bob", fields: response)
        _ = await #expect(throws: TargetKitError.self) { try await provider().request(target(server, first)) }
        _ = try await provider().request(target(server, second))
        #expect(ranges(server) == [nil, continues ? "bytes=\(Self.cut)-" : nil])
        let isSecond = second.contains { $0.value == "bob" }
        #expect(try Data(contentsOf: file).whole == Self.content(isSecond ? 1 : 0).data.whole)
    }
}
