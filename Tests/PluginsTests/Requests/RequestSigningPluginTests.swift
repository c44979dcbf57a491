// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("RequestSigningPlugin", .throttled, .timeLimit(.minutes(2)))
struct RequestSigningPluginTests {
    private static let field: HTTPHeaderName = "X-Signature"

    /// Signs with the method, URL, a field, and the length and checksum of the body.
    private static func signer(_ seen: Recorder<SignableRequest> = Recorder()) -> RequestSigningPlugin {
        RequestSigningPlugin(fields: [field]) { request, context in
            seen.append(request)
            let sum = try checksum(of: request)
            let token = request.headers["Authorization"] ?? ""
            return ["X-Signature": "\(request.method.rawValue) \(request.url.path) \(token) \(sum) #\(context.attempt)"]
        }
    }

    /// A provider whose server answers each request.
    private static func provider(
        _ plugins: any Plugin...,
        sent: Recorder<URLRequest> = Recorder()
    ) -> Provider<PluginTarget> {
        Provider(transport: transport(sent), plugins: plugins)
    }

    private static func transport(_ sent: Recorder<URLRequest>) -> StubTransport {
        StubTransport { request in
            sent.append(request.urlRequest)
            return .status(200)
        }
    }

    private static func checksum(of request: SignableRequest) throws -> String {
        var (length, hash) = (0, UInt32(2_166_136_261))
        try request.readBody { piece in
            length += piece.count
            for byte in piece { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        }
        return "\(length):\(hash)"
    }

    private static func checksum(of data: Data) -> String {
        let hash = data.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return "\(data.count):\(hash)"
    }

    @Test("It sees what all other plugins made of the request, wherever it is in the array", arguments: 0...2)
    func runsLast(position: Int) async throws {
        let seen = Recorder<SignableRequest>()
        var plugins: [any Plugin] = [
            AccessTokenPlugin { _ in "token" },
            RecordingPlugin(prepare: { request, _ in
                var request = request
                request.url = request.url?.appending(path: "later")
                request.setValue("1", forHTTPHeaderField: "X-Late")
                return request
            }),
        ]
        plugins.insert(Self.signer(seen), at: position)
        let sent = Recorder<URLRequest>()
        let provider = Provider<PluginTarget>(transport: Self.transport(sent), plugins: plugins)
        _ = try await provider.result(PluginTarget(method: .delete)).get()
        let signature = sent.elements.first?.value(forHTTPHeaderField: "x-signature")
        #expect(signature == "DELETE /api/things/later Bearer token 0:2166136261 #0")
        #expect(seen.elements.first?.headers["x-late"] == "1")
    }

    @Test("The target's field of the signature's name is replaced")
    func replaces() async throws {
        let sent = Recorder<URLRequest>()
        let provider = Self.provider(Self.signer(), sent: sent)
        _ = await provider.result(PluginTarget(headers: ["x-SIGNATURE": "old", "X-Other": "a"]))
        let fields = HTTPHeaders(try #require(sent.elements.first?.allHTTPHeaderFields))
        #expect(fields["X-Signature"]?.hasPrefix("GET /api/things") == true)
        #expect(fields["X-Other"] == "a")
    }

    @Test(
        "The body that is signed is the one that goes out: bytes, JSON, a file, a form in memory and one with a file",
        arguments: [Backend.system, .urlSession],
        ["data", "json", "file", "form", "large form", "none"]
    )
    func bodies(backend: Backend, kind: String) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "tea.bin")
        try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }).write(to: file)
        let running = try RunningBackend(backend)
        let task: HTTPTask =
            switch kind {
            case "data": .data(Data(repeating: 7, count: 150_000))
            case "json": .json(["name": "tea"])
            case "file": .upload(file: file)
            case "form": .multipart(MultipartForm(parts: [.text("tea", name: "kind")]))
            case "large form":
                .multipart(MultipartForm(parts: [.text("tea", name: "kind"), .file(file, name: "photo")]))
            default: .plain
            }
        let provider = Provider<PluginTarget>(transport: running.transport, plugins: [Self.signer()])
        let target = PluginTarget(baseURL: running.baseURL, method: .post, task: task)
        _ = try await provider.result(target).get()
        let received = try #require(await running.waitForRequests(1).first)
        let sum = Self.checksum(of: received.body)
        #expect(received.headers["X-Signature"]?.contains(" \(sum) #0") == true)
        #expect(kind == "none" || !received.body.isEmpty)
    }

    @Test("Each attempt is signed anew")
    func retries() async {
        let seen = Recorder<SignableRequest>()
        let sent = Recorder<URLRequest>()
        let again = RecordingPlugin(retry: { _, context in context.attempt < 2 ? .retry(after: .zero) : .doNotRetry })
        _ = await Self.provider(again, Self.signer(seen), sent: sent).result(PluginTarget())
        #expect(seen.count == 3)
        let signatures = sent.elements.map { $0.value(forHTTPHeaderField: "X-Signature") }
        #expect(signatures.map { $0?.suffix(2) } == ["#0", "#1", "#2"])
    }

    @Test(
        "A signature that fails ends the call with stage request, before it is sent, at a later attempt too",
        arguments: 0...1
    )
    func failure(attempt: Int) async {
        let again = RecordingPlugin(retry: { _, _ in .retry(after: .zero) })
        let signer = RequestSigningPlugin(fields: [Self.field]) { _, context in
            if context.attempt == attempt { throw Boom() }
            return [:]
        }
        let sent = Recorder<URLRequest>()
        let error = await Self.provider(signer, again, sent: sent).result(PluginTarget()).failure
        #expect(error?.stage == .request)
        #expect(error?.underlying is Boom)
        let events = again.events
        #expect(sent.count == attempt)
        #expect(events.contains(.didReceive(attempt: attempt, .failure(.request))))
        #expect(!events.contains(.retry(attempt: attempt)))
        #expect(events.last == .process(.failure(.request)))
    }

    @Test(
        "Fields that were not declared, that break the message or that frame it are errors",
        arguments: [
            (["X-Other": "a"], "X-Other"), (["X-Signature": "a\r\nX: y"], "X-Signature"),
            (["X-Signature": "a", "x-other": "b"], "x-other"),
        ] as [(HTTPHeaders, String)]
    )
    func wrongFields(fields: HTTPHeaders, name: String) async throws {
        let signer = RequestSigningPlugin(fields: [Self.field]) { _, _ in fields }
        let error = try #require(await Self.provider(signer).result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.description.contains(name))
        #expect(error.kind == .invalidRequest)
        let framing = RequestSigningPlugin(fields: ["Content-Length"]) { _, _ in ["Content-Length": "3"] }
        #expect(await Self.provider(framing).result(PluginTarget()).failure?.stage == .request)
    }

    @Test("A redirect within the origin is signed for itself, and one to another origin is not signed")
    func redirects() async throws {
        let received = Recorder<URLRequest>()
        let transport = StubTransport { request in
            received.append(request.urlRequest)
            let next = ["/api/things": "/second", "/second": "https://other.example/third"][
                request.urlRequest.url?.path ?? ""
            ]
            return .response(
                status: next == nil ? 200 : 307,
                headers: next.map { ["Location": $0] } ?? [:],
                data: Data()
            )
        }
        let provider = Provider<PluginTarget>(transport: transport, plugins: [Self.signer()])
        _ = try await provider.result(PluginTarget()).get()
        let signatures = received.elements.map { $0.value(forHTTPHeaderField: "X-Signature") }
        #expect(signatures.count == 3)
        #expect(signatures[0]?.contains("/api/things") == true)
        #expect(signatures[1]?.contains("/second") == true)
        #expect(signatures[2] == nil)
    }

    @Test("Calls that share an exchange are signed once")
    func sharing() async {
        let seen = Recorder<SignableRequest>()
        let held = HeldTransport()
        let provider = Provider<PluginTarget>(
            transport: held.transport,
            plugins: [Self.signer(seen)],
            options: .setting(\.sharesInFlight, true)
        )
        async let first = provider.result(PluginTarget())
        async let second = provider.result(PluginTarget())
        await provider.waitForJoinedCalls(2)
        await held.requests.waitForCount(1)
        held.gate.open()
        let failures = await [first.failure, second.failure]
        #expect(failures.allSatisfy { $0 == nil })
        #expect(seen.count == held.requests.count)
    }

    @Test("A request is sent with the signature of the user whom its context names", arguments: [1, 2])
    func changingOwner(changes: Int) async throws {
        let users = Locked(["ann", "bob", "cem"])
        let sent = Recorder<URLRequest>()
        let owners = Recorder<String?>()
        let plugin = RequestSigningPlugin(fields: ["Authorization"], owner: { _ in users.withLock { $0.first } }) {
            _,
            _ in
            // The user changes as soon as the key was read.
            users.withLock { users in
                ["Authorization": "Key \(users.count > 3 - changes ? users.removeFirst() : users[0])"]
            }
        }
        let provider = Self.provider(plugin, OwnerRecorder(owners: owners), sent: sent)
        let result = await provider.result(PluginTarget())
        if changes == 1 {
            #expect(result.failure == nil)
            #expect(sent.elements.map { $0.value(forHTTPHeaderField: "Authorization") } == ["Key bob"])
            #expect(owners.elements == ["signature bob"])
        } else {
            #expect(result.failure?.underlying as? RequestSigningError == .changingOwner)
            #expect(sent.count == 0)
        }
    }

    /// Records the owner of the credential that is sent.
    private struct OwnerRecorder: Plugin {
        let owners: Recorder<String?>

        var place: PluginPlace { PluginPlace(rawValue: PluginPlace.signing.rawValue + 30) }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            owners.append(context.credentialOwner?.identifier)
            return try await next(request)
        }
    }

    @Test("Several sign in the array's order, each seeing the ones before")
    func several() async throws {
        let first = RequestSigningPlugin(fields: ["X-A"]) { _, _ in ["X-A": "1"] }
        let second = RequestSigningPlugin(fields: ["X-B"]) { request, _ in ["X-B": (request.headers["X-A"] ?? "") + "2"]
        }
        let sent = Recorder<URLRequest>()
        _ = try await Self.provider(first, second, sent: sent).result(PluginTarget()).get()
        #expect(sent.elements.first?.value(forHTTPHeaderField: "X-B") == "12")
    }

    @Test("Cancelling while it signs ends the call as cancelled")
    func cancel() async {
        let gate = Gate()
        let signer = RequestSigningPlugin(fields: [Self.field]) { _, _ in
            try await gate.waitUnlessCancelled()
            return [:]
        }
        let provider = Self.provider(signer)
        let call = Task { await provider.result(PluginTarget()) }
        await gate.waitForArrivals()
        call.cancel()
        #expect(await call.value.failure?.stage == .cancelled)
    }

    @Test("A body is read from its start each time, in pieces of up to 64 KiB; a missing file is an error")
    func reading() throws {
        let data = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })
        let request = SignableRequest(method: .post, url: .shop, body: .data(data))
        var sizes: [Int] = []
        try request.readBody { sizes.append($0.count) }
        #expect(sizes == [65_536, 65_536, 18_928])
        #expect(try request.bodyData() == data)
        #expect(try SignableRequest(method: .get, url: .shop).bodyData().isEmpty)
        let missing = SignableRequest(method: .post, url: .shop, body: .file(URL(filePath: "/no/such/file")))
        #expect(throws: (any Error).self) { try missing.bodyData() }
        let form = MultipartForm(parts: [.text("tea", name: "kind")], boundary: "b")
        let source = try form.bodySource()
        let streamed = SignableRequest(method: .post, url: .shop, body: .stream(source))
        #expect(try streamed.bodyData() == form.data())
        #expect(try streamed.bodyData() == form.data())
    }
}
