// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private func digest(of text: String) -> String { "digest of \(text)" }
private func encrypt(_ data: Data) throws -> Data { Data(data.reversed()) }
private func decrypt(_ data: Data) throws -> Data { Data(data.reversed()) }

extension Cookie {
    var forWebView: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : "." + domain, .path: path,
        ]
        if let expires { properties[.expires] = expires }
        if isSecure { properties[.secure] = "TRUE" }
        return HTTPCookie(properties: properties)
    }
}

@Suite("Page: recipes for requests", .throttled, .timeLimit(.minutes(2)))
struct RequestRecipesPageTests {
    private let script = ScriptedTransport(.response(status: 200, data: Data("{}".utf8)))

    private var transport: StubTransport { script.transport }

    @Test("Add header fields and parameters to every call")
    func commonParts() async throws {
        let provider = Provider<ShopAPI>(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.task = endpoint.task.query(["version": "2.4", "channel": "store"])
                return endpoint
            },
            transport: transport,
            plugins: [DefaultHeadersPlugin(others: ["X-Device": "iPhone15,2"])]
        )
        _ = try await provider.request(.products(page: 2))
        let sent = try #require(script.requests.elements.first)
        #expect(sent.url?.query == "page=2&channel=store&version=2.4")
        #expect(sent.value(forHTTPHeaderField: "X-Device") == "iPhone15,2")
    }

    @Test("Sign requests")
    func signing() async throws {
        let clock = ServerClockPlugin()
        let signing = RequestSigningPlugin(fields: ["X-Time", "X-Nonce", "X-Sign"]) { request, _ in
            let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let parameters = query.map { "\($0.name)=\($0.value ?? "")" }.sorted().joined(separator: "&")
            let time = "\(Int(clock.now.timeIntervalSince1970))"
            let nonce = UUID().uuidString
            let signature = digest(of: "\(parameters)&\(time)&\(nonce)")
            return ["X-Time": time, "X-Nonce": nonce, "X-Sign": signature]
        }
        let provider = Provider<ShopAPI>(transport: transport, plugins: [clock, signing])
        _ = try await provider.request(.products(page: 2))
        let sent = try #require(script.requests.elements.first)
        let time = try #require(sent.value(forHTTPHeaderField: "X-Time"))
        let nonce = try #require(sent.value(forHTTPHeaderField: "X-Nonce"))
        #expect(sent.value(forHTTPHeaderField: "X-Sign") == "digest of page=2&\(time)&\(nonce)")
    }

    @Test("Encrypt bodies")
    func encryption() async throws {
        let bodies = Recorder<Data>()
        let transport = StubTransport { request in
            if case .data(let body) = request.body { bodies.append(body) }
            return .response(status: 200, data: try encrypt(Data(#"{"id":7,"name":"Green tea"}"#.utf8)))
        }
        let encrypted = EncryptedTransport(base: transport, seal: { try encrypt($0) }, open: { try decrypt($0) })
        let provider = Provider<ShopAPI>(transport: encrypted)
        let product = try await provider.request(.order(product: 7), as: Product.self)
        #expect(product.id == 7)
        #expect(bodies.elements == [try encrypt(Data(#"{"product":7}"#.utf8))])
    }

    @Test("Set timeouts")
    func timeouts() async throws {
        let provider = Provider<ShopAPI>(transport: transport, options: .setting(\.timeout, .wholeCall(.seconds(30))))
        let short = CallOptions.setting(\.timeout, .wholeCall(.seconds(5)))
        let suggestions = try await provider.request(.search(text: "te"), options: short)
        #expect(suggestions.statusCode == 200)
        #expect(short.timeout.wholeCall == .seconds(5))
    }

    @Test("Retry calls on a weak network")
    func weakNetwork() async throws {
        let connectivity = ManualConnectivity(.offline)
        let reachability = Reachability(connectivity)
        let waiting = WaitsForConnectivityPlugin(reachability, timeout: .seconds(20))
        let provider = Provider<ShopAPI>(transport: transport, plugins: [RetryPlugin(), waiting])
        async let status = {
            let products = try await provider.request(.products(page: 1))
            return products.statusCode
        }()
        connectivity.set(.online(.wifi, isExpensive: false))
        #expect(try await status == 200)
    }

    @Test("An order that is submitted twice is sent once")
    func doubleTap() async throws {
        let held = HeldTransport()
        let transport = held.transport
        let form = await OrderForm(provider: Provider(transport: transport, plugins: [RetryPlugin()]))
        async let first: Void = form.submit(product: 7)
        await held.gate.waitForArrivals()
        #expect(await form.isSending)
        try await form.submit(product: 7)
        held.gate.open()
        try await first
        #expect(held.requests.count == 1)
    }

    @Test("An order keeps its key until it has succeeded")
    func orderKey() async throws {
        let script = ScriptedTransport(.status(400), .status(200))
        let form = await OrderForm(provider: Provider(transport: script.transport, plugins: [RetryPlugin()]))
        await #expect(throws: TargetKitError.self) { try await form.submit(product: 7) }
        try await form.submit(product: 7)
        try await form.submit(product: 7)
        let keys = script.requests.elements.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
        #expect(keys.count == 3)
        #expect(keys[0] != nil && keys[0] == keys[1] && keys[1] != keys[2])
    }

    @Test("Merge identical calls")
    func sharing() async throws {
        let held = HeldTransport()
        let transport = held.transport
        held.gate.open()
        let provider = Provider<ShopAPI>(transport: transport, options: .setting(\.sharesInFlight, true))
        async let first = provider.request(.profile)
        async let second = provider.request(.profile)
        let both = try await [first, second]
        #expect(both.map(\.statusCode) == [200, 200])
        #expect((1...2).contains(held.requests.count))
    }

    @Test("Make calls in sequence or in parallel")
    func several() async throws {
        func home(
            _ provider: Provider<ShopAPI>,
            photosIn folder: URL
        ) async throws -> (profile: JSONValue, photos: [URL]) {
            async let profile = provider.request(.profile)
            async let products = provider.request(.products(page: 1), as: [Product].self, atKeyPath: "data")
            let photos = try await products.map { product in
                ShopAPI.download(name: "\(product.id).jpg", to: folder.appending(path: "\(product.id).jpg"))
            }
            var files: [URL] = []
            for await outcome in provider.requests(photos, maxConcurrent: 6, inOrder: true) {
                if let file = try outcome.result.get().file { files.append(file) }
            }
            return (try await profile.json(), files)
        }
        let transport = StubTransport.texts { request in
            switch request.url?.lastPathComponent {
            case "profile": #"{"name":"Anna"}"#
            case "products": #"{"data":[{"id":7,"name":"Green tea"},{"id":8,"name":"Black tea"}]}"#
            default: "photo"
            }
        }
        let folder = try TemporaryFolder()
        let screen = try await home(Provider(transport: transport), photosIn: folder.url)
        #expect(screen.profile.name.string == "Anna")
        #expect(screen.photos.map(\.lastPathComponent) == ["7.jpg", "8.jpg"])
        #expect(folder.names.sorted() == ["7.jpg", "8.jpg"])
    }

    @Test("Share cookies with a web view")
    func cookies() async throws {
        let headers: HTTPHeaders = ["Set-Cookie": "sid=1; Path=/; Secure"]
        let transport = StubTransport(.response(status: 200, headers: headers, data: Data()))
        let cookies = CookieStore()
        let provider = Provider<ShopAPI>(transport: transport, plugins: [CookiePlugin(cookies)])
        _ = try await provider.request(.signIn(user: "anna", password: "tea"))
        let shared = cookies.cookies(for: Servers.api).compactMap(\.forWebView)
        #expect(shared.map(\.name) == ["sid"])
        #expect(shared.map(\.domain) == ["api.shop.example"])
        #expect(shared.map(\.isSecure) == [true])
    }

    @Test("Pin certificates, and allow a proxy during development", arguments: [true, false])
    func certificates(isDebug: Bool) {
        func secureTransport(isDebug: Bool) -> any Transport {
            if isDebug { return URLSessionTransport() }
            let keys = ["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek="]
            return URLSessionTransport(tls: TLSPolicy(pins: ["*.shop.example": keys]))
        }
        #expect(secureTransport(isDebug: isDebug) is URLSessionTransport)
    }
}

// MARK: - Transfers

extension RequestRecipesPageTests {
    @Test("Upload photos with progress")
    func photos() async throws {
        func upload(
            _ photos: [Data],
            to provider: Provider<ShopAPI>,
            progress: @MainActor (Double) -> Void
        ) async throws {
            let form = MultipartForm(parts: .images(photos, name: "photos[]", fileName: "photo{i}.jpg"))
            for try await event in provider.events(for: .upload(form)) {
                if case .uploadProgress(let step) = event { await progress(step.fraction ?? 0) }
            }
        }
        let fractions = Recorder<Double>()
        let photos = [Data("one".utf8), Data("two".utf8)]
        try await upload(photos, to: Provider(transport: transport)) { fractions.append($0) }
        #expect(fractions.elements.last == 1)
        let type = script.requests.elements.first?.value(forHTTPHeaderField: "Content-Type")
        #expect(type?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test("Upload a large file in parts")
    func parts() async throws {
        func upload(
            file: URL,
            as upload: String,
            partSize: Int = 5 << 20,
            to provider: Provider<ShopAPI>
        ) async throws {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                var number = 0
                while let part = try handle.read(upToCount: partSize), !part.isEmpty {
                    if number >= 3 { try await group.next() }
                    let target = ShopAPI.part(upload: upload, number: number, part)
                    group.addTask { _ = try await provider.request(target) }
                    number += 1
                }
                try await group.waitForAll()
            }
        }
        let parts = Recorder<String>()
        let transport = StubTransport { request in
            guard case .data(let body) = request.body else { return .status(400) }
            let name = request.urlRequest.url?.lastPathComponent ?? ""
            parts.append("\(name): \(String(decoding: body, as: UTF8.self))")
            return .status(200)
        }
        let folder = try TemporaryFolder()
        let file = try folder.file("video", Data("0123456789abc".utf8))
        try await upload(file: file, as: "v1", partSize: 3, to: Provider(transport: transport))
        #expect(parts.elements.sorted() == ["0: 012", "1: 345", "2: 678", "3: 9ab", "4: c"])
    }

    @Test("Download a file with progress")
    func downloading() async throws {
        func download(
            _ name: String,
            to file: URL,
            from provider: Provider<ShopAPI>,
            progress: @MainActor (Double?) -> Void
        ) async throws {
            for try await event in provider.events(for: .download(name: name, to: file)) {
                if case .downloadProgress(let step) = event { await progress(step.fraction) }
            }
        }
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "menu.pdf")
        let steps = Recorder<Double?>()
        try await download("menu.pdf", to: file, from: Provider(transport: transport)) { steps.append($0) }
        #expect(steps.count > 0)
        #expect(try Data(contentsOf: file) == Data("{}".utf8))
    }

    @Test("Show the reply of a language model as it is written")
    func chat() async throws {
        func ask(
            _ question: String,
            _ provider: Provider<ShopAPI>,
            show: @MainActor (String) -> Void
        ) async throws -> String {
            var reply = ""
            for try await event in provider.serverSentEvents(for: .chat(question: question)) {
                if event.data == "[DONE]" { return reply }
                let chunk = try JSONValue(parsing: event.data)
                if let message = chunk.error.message.string { throw ServerDefinedError(code: "", message: message) }
                guard let words = chunk.choices[0].delta.content.string else { continue }
                reply += words
                await show(reply)
            }
            throw URLError(.networkConnectionLost)
        }
        let words = ["Green", " tea"].map { #"{"choices":[{"delta":{"content":"\#($0)"}}]}"# }
        func transport(_ end: String) -> StubTransport {
            let body = Data((words + [end]).map { "data: \($0)\n\n" }.joined().utf8)
            let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
            return StubTransport(.response(status: 200, headers: headers, data: body))
        }
        let shown = Recorder<String>()
        let reply = try await ask("Which tea?", Provider(transport: transport("[DONE]"))) { shown.append($0) }
        #expect(reply == "Green tea")
        #expect(shown.elements == ["Green", "Green tea"])
        await #expect(throws: ServerDefinedError.self) {
            try await ask("Which tea?", Provider(transport: transport(#"{"error":{"message":"overloaded"}}"#))) { _ in }
        }
        await #expect(throws: URLError.self) {
            try await ask("Which tea?", Provider(transport: transport(#"{"choices":[]}"#))) { _ in }
        }
        // The second attempt replaces what the first one has shown.
        let texts = Recorder<String>()
        for end in ["", "[DONE]"] {
            _ = try? await ask("Which tea?", Provider(transport: transport(end))) { texts.append($0) }
        }
        #expect(texts.elements == ["Green", "Green tea", "Green", "Green tea"])
        // A broken reply isn't asked for again by a plugin, whose retries would repeat its words.
        let requests = Recorder<URLRequest>()
        let broken = StubTransport { request in
            requests.append(request.urlRequest)
            let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
            return .response(status: 200, headers: headers, data: Data("data: \(words[0])\n\n".utf8))
        }
        await #expect(throws: URLError.self) {
            try await ask("Which tea?", Provider(transport: broken, plugins: [RetryPlugin()])) { _ in }
        }
        #expect(requests.count == 1)
    }

    @Test("The arguments of a function arrive in parts")
    func functionCalls() throws {
        var arguments: [Int: String] = [:]
        for part in [#"{\"city\":"#, #"\"Hangzhou\"}"#] {
            let chunk = try JSONValue(
                parsing: #"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\#(part)"}}]}}]}"#
            )
            for call in chunk.choices[0].delta.tool_calls.array ?? [] {
                arguments[call.index.int ?? 0, default: ""] += call.function.arguments.string ?? ""
            }
        }
        #expect(arguments == [0: #"{"city":"Hangzhou"}"#])
    }

    struct EncryptedTransport: Transport {
        let base: any Transport
        let seal: @Sendable (Data) throws -> Data
        let open: @Sendable (Data) throws -> Data

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            var request = request
            if case .data(let body) = request.body { request.body = .data(try seal(body)) }
            var response = try await base.send(request)
            if case .data(let body) = response.body, !body.isEmpty { response.body = .data(try open(body)) }
            return response
        }
    }

    @MainActor
    final class OrderForm {
        private(set) var isSending = false
        private var key = UUID().uuidString
        private let provider: Provider<ShopAPI>

        init(provider: Provider<ShopAPI>) {
            self.provider = provider
        }

        func submit(product: Int) async throws {
            guard !isSending else { return }
            isSending = true
            defer { isSending = false }
            _ = try await provider.request(.order(product: product), options: .setting(\.idempotencyKey, key))
            key = UUID().uuidString
        }
    }
}
