// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads", .throttled, .timeLimit(.minutes(3)))
struct DownloadTests {
    /// A folder with a three-byte file for a call to replace.
    private struct Place {
        let folder: TemporaryFolder
        let file: URL

        init() throws {
            folder = try TemporaryFolder()
            file = try folder.file("kept", Data("old".utf8))
        }

        /// Whether the file is unchanged, and the only one in its folder.
        var isUntouched: Bool { (try? Data(contentsOf: file)) == Data("old".utf8) && folder.names == ["kept"] }
    }

    private func target(_ baseURL: URL, to file: URL, _ validation: StatusValidation = .successCodes) -> TestTarget {
        TestTarget(baseURL).with {
            $0.task = .download(to: file)
            $0.validation = validation
        }
    }

    @Test(
        "A refused response leaves the file unchanged, and its error has the body",
        arguments: Backend.allCases,
        [304, 404, 416, 500]
    )
    func refused(_ backend: Backend, status: Int) async throws {
        let body = Data((status == 304 ? "" : #"{"reason":"none"}"#).utf8)
        let running = try RunningBackend(backend) { _ in .response(status: status, data: body) }
        let place = try Place()
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport)
                .request(target(running.baseURL, to: place.file))
        }
        #expect(error.stage == .status)
        #expect(error.response?.statusCode == status)
        #expect(error.response?.data == body)
        #expect(error.response?.file == nil)
        #expect(place.isUntouched)
    }

    @Test(
        "A response that is not a success leaves the file unchanged, even if its status is accepted",
        arguments: Backend.allCases,
        [302, 404]
    )
    func acceptedFailure(_ backend: Backend, status: Int) async throws {
        let running = try RunningBackend(backend) { _ in
            .response(status: status, headers: ["Location": "/elsewhere"], data: Data("no".utf8))
        }
        let place = try Place()
        let provider = Provider<TestTarget>(transport: running.transport, redirects: .none)
        let response = try await provider.request(target(running.baseURL, to: place.file, .none))
        #expect(response.statusCode == status)
        #expect(response.data == Data("no".utf8))
        #expect(response.file == nil)
        #expect(place.isUntouched)
    }

    @Test("The error of a refused response has at most the first mebibyte", arguments: Backend.allCases)
    func largeRefusal(_ backend: Backend) async throws {
        let body = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 >> 8) })
        let running = try RunningBackend(backend) { _ in .response(status: 500, data: body) }
        let place = try Place()
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport)
                .request(target(running.baseURL, to: place.file))
        }
        #expect(error.response?.data == body.prefix(1 << 20))
        #expect(place.isUntouched)
    }

    @Test("An unexpected status leaves the file unchanged, even if it is a success")
    func unexpectedSuccess() async throws {
        let running = try RunningBackend(.system) { _ in .response(status: 206, data: Data("part".utf8)) }
        let place = try Place()
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport)
                .request(target(running.baseURL, to: place.file, .codes([200])))
        }
        #expect(error.response?.data == Data("part".utf8))
        #expect(place.isUntouched)
    }

    @Test("A refused attempt leaves no file, and the next attempt replaces the file", arguments: Backend.allCases)
    func retried(_ backend: Backend) async throws {
        struct Again: Plugin {
            let place: Place
            let untouched = Recorder<Bool>()
            func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
                guard case .failure = result else { return .doNotRetry }
                untouched.append(place.isUntouched)
                return .retry(after: .zero)
            }
        }
        let attempts = Tally()
        let running = try RunningBackend(backend) { _ in
            attempts.add()
            return .response(status: attempts.value < 3 ? 503 : 200, data: Data("new".utf8))
        }
        let again = Again(place: try Place())
        let response = try await Provider<TestTarget>(transport: running.transport, plugins: [again])
            .request(target(running.baseURL, to: again.place.file))
        #expect(again.untouched.elements == [true, true])
        #expect(response.file == again.place.file)
        #expect(try Data(contentsOf: again.place.file) == Data("new".utf8))
        #expect(again.place.folder.names == ["kept"])
    }

    @Test(
        "The file can have any name that the system allows",
        arguments: Backend.allCases,
        [
            String(repeating: "n", count: 235), String(repeating: "n", count: 255),
            String(repeating: "漢", count: 85), String(repeating: "👨‍👩‍👧‍👦", count: 10), ".hidden",
        ]
    )
    func names(_ backend: Backend, name: String) async throws {
        let running = try RunningBackend(backend) { _ in .response(status: 200, data: Data("new".utf8)) }
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent(name)
        let response = try await Provider<TestTarget>(transport: running.transport)
            .request(target(running.baseURL, to: file))
        #expect(response.file == file)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(folder.names == [name])
        // The transport on its own as well.
        let request = TransportRequest(urlRequest: URLRequest(url: running.baseURL), destination: .file(file))
        _ = try await running.transport.send(request)
        #expect(folder.names == [name])
    }

    /// Expects a download to that place to be refused with those words before anything is sent.
    private func expectRefusal(of place: URL, naming words: String, _ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: running.transport).request(target(running.baseURL, to: place))
        }
        #expect(error.stage == .request)
        #expect(error.kind == .invalidRequest)
        #expect(error.description.contains(words))
        #expect(running.requests.isEmpty)
    }

    @Test("The error of a folder that cannot be created names it, and nothing is sent", arguments: Backend.allCases)
    func missingFolder(_ backend: Backend) async throws {
        let folder = try TemporaryFolder()
        let missing = try folder.file("file").appendingPathComponent("not/there")
        try await expectRefusal(of: missing.appendingPathComponent("file"), naming: missing.path, backend)
        #expect(folder.names == ["file"])
    }

    @Test("A pipe or a folder as the destination is refused before anything is sent", arguments: Backend.allCases)
    func destination(_ backend: Backend) async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for place in [pipe, folder.url] {
            try await expectRefusal(of: place, naming: "a regular file", backend)
        }
        #expect(folder.names == ["pipe"])
    }

    @Test("A download keeps the permissions of the file, and a symbolic link to it", arguments: Backend.allCases)
    func permissions(_ backend: Backend) async throws {
        let running = try RunningBackend(backend) { _ in .response(status: 200, data: Data("new".utf8)) }
        let folder = try TemporaryFolder()
        let file = try folder.file("file", Data("old".utf8))
        #expect(chmod(file.path, 0o600) == 0)
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        _ = try await Provider<TestTarget>(transport: running.transport).request(target(running.baseURL, to: link))
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(file.mode == 0o600)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
        #expect(Set(folder.names) == ["file", "link"])
    }

    /// Returns a file of its own.
    private struct Elsewhere: Transport {
        let file: URL

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(statusCode: 200), body: .file(file))
        }
    }

    @Test("A transport that returns another file than the one it was given replaces nothing")
    func otherFile() async throws {
        let place = try Place()
        let other = try TemporaryFolder()
        let transport = Elsewhere(file: try other.file("other", Data("new".utf8)))
        let error = try await #require(throws: TargetKitError.self) {
            try await Provider<TestTarget>(transport: transport).request(target(.example, to: place.file))
        }
        #expect((error.underlying as? URLError)?.code == .cannotParseResponse)
        #expect(place.isUntouched)
        #expect(other.names == ["other"])
    }

    /// Notes the permissions of the file that the transport has written, before the provider moves it.
    private struct Watching: Transport {
        let inner: any Transport
        let modes = Recorder<mode_t?>()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await inner.send(request)
            if case .file(let file) = request.destination { modes.append(file.mode) }
            return response
        }
    }

    @Test(
        "What replaces a file is its user's alone before it is moved, and then has its permissions",
        arguments: Backend.allCases,
        [0o600, 0o640, 0o400, 0o644] as [mode_t]
    )
    func privacy(_ backend: Backend, mode: mode_t) async throws {
        let running = try RunningBackend(backend) { _ in .response(status: 200, data: Data("new".utf8)) }
        let place = try Place()
        #expect(chmod(place.file.path, mode) == 0)
        let transport = Watching(inner: running.transport)
        _ = try await Provider<TestTarget>(transport: transport).request(target(running.baseURL, to: place.file))
        #expect(transport.modes.elements == [0o600])
        #expect(place.file.mode == mode)
        #expect(place.folder.names == ["kept"])
    }

    @Test("Of two downloads to one file, one is there as a whole", arguments: Backend.allCases)
    func together(_ backend: Backend) async throws {
        let bodies = ["a", "b"].map { Data(String(repeating: $0, count: 1 << 20).utf8) }
        let running = try RunningBackend(backend) { request in
            .response(status: 200, data: request.target.hasSuffix("a") ? bodies[0] : bodies[1])
        }
        let place = try Place()
        let provider = Provider<TestTarget>(transport: running.transport)
        let call = target(running.baseURL, to: place.file)
        for _ in 0..<10 {
            async let first = provider.request(call.with { $0.path = "/a" })
            async let second = provider.request(call.with { $0.path = "/b" })
            #expect(try await [first.file, second.file] == [place.file, place.file])
            #expect(bodies.contains(try Data(contentsOf: place.file)))
            #expect(place.folder.names == ["kept"])
        }
    }

    @Test("A pipe as the body is refused before anything is sent", arguments: Backend.allCases)
    func pipe(_ backend: Backend) async throws {
        let running = try RunningBackend(backend)
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for task in [HTTPTask.upload(file: pipe), .multipart([.file(pipe, name: "f")])] {
            let target = TestTarget(running.baseURL).with {
                $0.method = .post
                $0.task = task
            }
            let error = try await #require(throws: TargetKitError.self) {
                try await Provider<TestTarget>(transport: running.transport).request(target)
            }
            #expect(error.kind == .unreadableFile)
            #expect(error.description.contains(pipe.path))
        }
        #expect(running.requests.isEmpty)
    }
}

extension URL {
    fileprivate var mode: mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}
