// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Uploads, downloads and progress", .throttled, .timeLimit(.minutes(1)))
struct TransferTests {
    let server: EchoServer
    let folder: TestFolder

    init() throws {
        server = try EchoServer()
        folder = try TestFolder()
    }

    private func send(_ task: Task, _ method: Moya.Method = .post) async -> Result<Moya.Response, MoyaError> {
        await MoyaProvider<Call>().result(of: Call(baseURL: server.baseURL, method: method, task: task))
    }

    @Test("A file is sent as the body")
    func file() async throws {
        let result = await send(.uploadFile(try folder.file("a.txt", "contents")), .put)
        #expect(try #require(result.response).map(EchoServer.Received.self).body == "contents")
    }

    @Test("A missing file is an error, and nothing is sent")
    func missingFile() async {
        let result = await send(.uploadFile(folder.url.appendingPathComponent("none")))
        #expect(result.afError != nil)
        #expect(server.requests.isEmpty)
    }

    @Test("A form with data, files and streams is sent with its parameters")
    func form() async throws {
        let parts = [
            MultipartFormData(provider: .data(Data("plain".utf8)), name: "text"),
            MultipartFormData(
                provider: .file(try folder.file("b.txt", "from a file")),
                name: "file",
                fileName: "c.txt",
                mimeType: "text/plain"
            ),
            MultipartFormData(
                provider: .stream(InputStream(data: Data("from a stream".utf8)), 13),
                name: "stream",
                fileName: "d.bin",
                mimeType: "application/octet-stream"
            ),
        ]
        let call = Call(
            baseURL: server.baseURL,
            method: .post,
            task: .uploadCompositeMultipart(parts, urlParameters: ["album": 7]),
            headers: ["Content-Type": "multipart/form-data"]
        )
        let received = try #require(await MoyaProvider<Call>().result(of: call).response).map(EchoServer.Received.self)
        #expect(received.query == "album=7")
        #expect(received.headers["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(received.body.contains("name=\"text\"\r\n\r\nplain\r\n"))
        #expect(
            received.body.contains(
                "name=\"file\"; filename=\"c.txt\"\r\nContent-Type: text/plain\r\n\r\nfrom a file\r\n"
            )
        )
        #expect(received.body.contains("from a stream"))
    }

    @Test("A form in memory is sent")
    func formInMemory() async throws {
        let result = await send(.uploadMultipart([MultipartFormData(provider: .data(Data("x".utf8)), name: "n")]))
        #expect(try #require(result.response).map(EchoServer.Received.self).body.contains("name=\"n\"\r\n\r\nx\r\n"))
    }

    @Test("A form without parts, or with a GET, is an error and not a trap")
    func noForm() async {
        #expect(await send(.uploadMultipart([])).error != nil)
        let part = MultipartFormData(provider: .data(Data()), name: "n")
        #expect(await send(.uploadMultipart([part]), .get).error != nil)
        #expect(server.requests.isEmpty)
    }

    @Test("A missing file of a form is Alamofire's multipart error")
    func missingPart() async {
        let missing = folder.url.appendingPathComponent("none")
        let result = await send(.uploadMultipart([MultipartFormData(provider: .file(missing), name: "n")]))
        #expect(result.afError?.isMultipartEncodingError == true)
        #expect(result.afError?.url?.lastPathComponent == "none")
    }

    private func download(
        _ path: String,
        to file: URL,
        _ options: DownloadRequest.Options = []
    ) async -> Result<Moya.Response, MoyaError> {
        let task = Task.downloadDestination { _, _ in (file, options) }
        return await MoyaProvider<Call>().result(of: Call(baseURL: server.baseURL, path: path, task: task))
    }

    @Test("A download is stored at its destination")
    func download() async throws {
        let file = folder.url.appendingPathComponent("new/a.bin")
        let result = await download("/bytes/5000", to: file, [.createIntermediateDirectories])
        #expect(result.response?.statusCode == 200)
        #expect(result.response?.data.isEmpty == true)
        #expect(try Data(contentsOf: file).count == 5000)
    }

    @Test("An existing file is replaced only with the option", arguments: [true, false])
    func existing(replaces: Bool) async throws {
        let file = try folder.file("a.bin", "old")
        let result = await download("/bytes/5", to: file, replaces ? [.removePreviousFile] : [])
        #expect((result.error == nil) == replaces)
        #expect(try Data(contentsOf: file).count == (replaces ? 5 : 3))
        #expect((result.afError?.isDownloadedFileMoveError ?? false) == !replaces)
    }

    @Test("The destination receives the head of the response")
    func destination() async throws {
        let log = Log()
        let folder = folder
        let task = Task.downloadParameters(parameters: ["q": 1], encoding: URLEncoding.queryString) { temporary, head in
            log.append("\(head.statusCode) \(head.url?.query ?? "") \(temporary.isFileURL)")
            return (folder.url.appendingPathComponent(head.url?.lastPathComponent ?? "none"), [.removePreviousFile])
        }
        let call = Call(baseURL: server.baseURL, path: "/bytes/9", task: task)
        #expect(await MoyaProvider<Call>().result(of: call).error == nil)
        #expect(log.lines == ["200 q=1 true"])
        #expect(folder.names == ["9"])
    }

    @Test(
        "The suggested destination has the name of Content-Disposition, else that of the URL",
        arguments: [
            ("attachment; filename=\"tea list.txt\"", "/files/7", "tea list.txt"), (nil, "/files/b.pdf", "b.pdf"),
        ]
    )
    func suggestedName(disposition: String?, path: String, name: String) throws {
        let response = try #require(head(path, disposition))
        let options: DownloadRequest.Options = [.removePreviousFile]
        let choose = DownloadRequest.suggestedDownloadDestination(for: .cachesDirectory, options: options)
        let (file, chosen) = choose(folder.url, response)
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        #expect(file.path == caches?.appendingPathComponent(name).path)
        #expect(chosen == options)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "On Linux, the suggested name is decoded as RFC 6266 states, and leaves the folder never",
        arguments: [
            ("attachment; filename*=UTF-8''t%C3%A9.txt; filename=t.txt", "/", "t\u{E9}.txt"),
            ("attachment; filename=\"../../.profile\"", "/", "profile"), (nil, "/", "download"),
        ]
    )
    func safeName(disposition: String?, path: String, name: String) throws {
        let response = try #require(head(path, disposition))
        let (file, _) = DownloadRequest.suggestedDownloadDestination()(folder.url, response)
        let documents = FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
        #expect(file.path == documents?.appendingPathComponent(name).path)
    }
    #endif

    private func head(_ path: String, _ disposition: String?) -> HTTPURLResponse? {
        HTTPURLResponse(
            url: server.baseURL.appendingPathComponent(path),
            statusCode: 200,
            httpVersion: nil,
            headerFields: disposition.map { ["Content-Disposition": $0] }
        )
    }

    /// Makes a call and returns its steps.
    private func steps(_ call: Call) async -> [(fraction: Double, isCompleted: Bool)] {
        let steps = Locking<[(fraction: Double, isCompleted: Bool)]>([])
        await withCheckedContinuation { continuation in
            MoyaProvider<Call>().request(
                call,
                callbackQueue: DispatchQueue(label: "steps"),
                progress: { step in
                    let (fraction, isCompleted) = (step.progress, step.completed)
                    steps.update { $0.append((fraction, isCompleted)) }
                },
                completion: { _ in continuation.resume() }
            )
        }
        return steps.value
    }

    @Test("The progress of a download and an upload grows to 1, and only the last step has the response")
    func progress() async throws {
        let folder = folder
        let file = folder.url.appendingPathComponent("d.bin")
        let upload = try folder.file("u.bin", String(repeating: "x", count: 200_000))
        let calls = [
            Call(baseURL: server.baseURL, path: "/bytes/200000"),
            Call(baseURL: server.baseURL, path: "/bytes/200000", task: .downloadDestination { _, _ in (file, []) }),
            Call(baseURL: server.baseURL, path: "/status/200", method: .post, task: .uploadFile(upload)),
        ]
        for call in calls {
            let steps = await steps(call)
            #expect(steps.map(\.fraction) == steps.map(\.fraction).sorted())
            #expect(steps.count >= 2)
            #expect(steps.dropLast().allSatisfy { !$0.isCompleted })
            #expect(steps.last?.isCompleted == true)
            #expect(steps.last?.fraction == 1)
            #expect(steps.dropLast().last?.fraction == 1)
            // As with Moya: once before the completed step.
            #expect(steps.filter { $0.fraction == 1 }.count == 2)
        }
    }

    @Test("Without a length, only the completed step has the fraction 1", arguments: [true, false])
    func progressOfUnknownLength(isDownload: Bool) async {
        let file = folder.url.appendingPathComponent("chunks.bin")
        let task = isDownload ? Task.downloadDestination { _, _ in (file, []) } : .requestPlain
        let steps = await steps(Call(baseURL: server.baseURL, path: "/chunks", task: task))
        #expect(steps.count >= 2)
        #expect(steps.dropLast().allSatisfy { $0.fraction == 0 && !$0.isCompleted })
        #expect(steps.last?.fraction == 1)
        #expect(steps.last?.isCompleted == true)
    }

    @Test("A step without a known length has the fraction 0 until it is complete")
    func unknownLength() {
        #expect(ProgressResponse().progress == 0)
        #expect(ProgressResponse(progress: Progress(totalUnitCount: -1)).progress == 0)
        let half = Progress(totalUnitCount: 10)
        half.completedUnitCount = 5
        #expect(ProgressResponse(progress: half).progress == 0.5)
        let response = Response(statusCode: 200, data: Data())
        #expect(ProgressResponse(progress: half, response: response).progress == 1)
        #expect(ProgressResponse(progress: half, response: response).completed)
    }
}

/// A value with a lock.
final class Locking<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    func update(_ change: (inout Value) -> Void) {
        lock.withLock { change(&stored) }
    }
}
