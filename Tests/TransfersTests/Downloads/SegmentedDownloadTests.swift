// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Downloads: several ranges at the same time", .throttled, .timeLimit(.minutes(3)))
struct SegmentedDownloadTests {
    private static let size = 4 << 20
    private static let segment = 1 << 20

    private let content = ServedFile(size: size)
    private let folder: TemporaryFolder
    private let provider = Provider<TestTarget>(transport: SystemTransport.patient)

    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func target(_ server: TestServer, _ count: Int = 4) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: .file(file).segments(count))
            $0.validation = .successCodes
        }
    }

    /// The first response, which stops after a number of bytes.
    private static func stopping(
        _ content: ServedFile,
        after count: Int,
        _ fields: HTTPHeaders = ["Accept-Ranges": "bytes"]
    ) -> TestServer.Response {
        let head = content.validators.merging(fields).merging(["Content-Length": "\(content.data.count)"])
        return [.head(status: 200, headers: head), .body(content.data.prefix(count)), .hang]
    }

    private func ranges(_ server: TestServer) -> [String] {
        server.requests.compactMap { $0.headers["Range"] }.sorted()
    }

    private static let allRanges = ["bytes=1048576-2097151", "bytes=2097152-3145727", "bytes=3145728-"]

    // MARK: Dividing

    @Test("A file is divided, its ranges are requested at the same time, and the first response is left at its end")
    func divided() async throws {
        let content = content
        let server = try TestServer { request in
            request.headers["range"] == nil
                ? Self.stopping(content, after: Self.segment + 100_000) : content.response(to: request)
        }
        let response = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(response.statusCode == 200)
        #expect(response.headers["Content-Length"] == String(Self.size))
        #expect(ranges(server) == Self.allRanges)
        #expect(server.requests.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"v1\"" })
        #expect(folder.names == ["file.bin"])
    }

    @Test(
        "A file is not divided without what that needs",
        arguments: [
            (["ETag": "\"v1\""], 4 << 20, 4),
            (["ETag": "\"v1\"", "Accept-Ranges": "none"], 4 << 20, 4),
            (["ETag": "W/\"v1\"", "Accept-Ranges": "bytes"], 4 << 20, 4),
            (["Accept-Ranges": "bytes"], 4 << 20, 4),
            (["ETag": "\"v1\"", "Accept-Ranges": "bytes"], (2 << 20) - 1, 4),
            (["ETag": "\"v1\"", "Accept-Ranges": "bytes"], 4 << 20, 1),
            (["ETag": "\"v1\"", "Accept-Ranges": "bytes"], 4 << 20, -3),
        ] as [(HTTPHeaders, Int, Int)]
    )
    func undivided(fields: HTTPHeaders, size: Int, count: Int) async throws {
        let content = ServedFile(size: size, validators: [:])
        let server = try TestServer { _ in TestServer.Response(status: 200, headers: fields, body: content.data) }
        _ = try await provider.request(target(server, count))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requestCount == 1)
        #expect(folder.names == ["file.bin"])
    }

    @Test("A file is divided into ranges of at least 1 MiB, and at most 16", arguments: [(3, 2), (5, 5), (40, 16)])
    func counts(mebibytes: Int, count: Int) async throws {
        let content = ServedFile(size: mebibytes == 3 ? (3 << 20) - 1 : mebibytes << 20)
        let server = try TestServer { content.response(to: $0) }
        _ = try await provider.request(target(server, 100))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requestCount == count)
    }

    @Test("A file whose length the server does not say is complete when all of it is written")
    func unknownLength() async throws {
        let content = ServedFile(size: 20 << 20)
        let server = try TestServer { _ in
            [.head(status: 200, headers: ["ETag": "\"v1\""]), .body(content.data), .close]
        }
        for count in 1...5 {
            _ = try await provider.request(target(server))
            #expect(try Data(contentsOf: file).whole == content.data.whole)
            #expect(server.requestCount == count)
        }
    }

    @Test("Plugins see each request once, with a context of its own")
    func plugins() async throws {
        struct Observer: Plugin {
            let prepared = Recorder<RequestContext.ID>()
            let sent = Recorder<RequestContext.ID>()
            let received = Recorder<RequestContext.ID>()
            let finished = Recorder<RequestContext.ID>()

            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                prepared.append(context.id)
                var request = request
                request.setValue("secret", forHTTPHeaderField: "X-Key")
                return request
            }
            func willSend(_ request: URLRequest, context: RequestContext) { sent.append(context.id) }
            func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
                received.append(context.id)
            }
            func didFinish(_ call: FinishedCall, context: RequestContext) { finished.append(context.id) }
        }
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let observer = Observer()
        let provider = Provider<TestTarget>(transport: SystemTransport.patient, plugins: [observer])
        _ = try await provider.request(target(server))
        #expect(observer.prepared.count == 1)
        #expect(observer.finished.elements == observer.prepared.elements)
        #expect(Set(observer.sent.elements).count == 4)
        #expect(observer.sent.count == 4)
        #expect(Set(observer.received.elements) == Set(observer.sent.elements))
        #expect(observer.received.count == 4)
        #expect(server.requests.allSatisfy { $0.headers["X-Key"] == "secret" })
    }

    @Test("The progress is that of the whole file")
    func progress() async throws {
        let content = content
        let server = try TestServer { content.response(to: $0) }
        let steps = Recorder<TransferProgress>()
        let result = Recorder<Bool>()
        provider.request(target(server), on: DispatchQueue(label: "test")) {
            steps.append($0)
        } completion: { _ in
            result.append(true)
        }
        await result.waitForCount(1)
        let completed = steps.elements.map(\.completed)
        #expect(completed == completed.sorted())
        #expect(completed.last == Int64(Self.size))
        #expect(steps.elements.allSatisfy { $0.total == Int64(Self.size) })
    }

    // MARK: Servers that do not cooperate

    @Test("Ranges that the server refuses are requested again after the others", arguments: [503, 429, 404])
    func refused(status: Int) async throws {
        let content = content
        let refused = Locked<Set<String>>([])
        let server = try TestServer { request in
            // The first request for each segment is refused, but not one that continues it later.
            let end = request.headers["Range"]?.split(separator: "-").last.map(String.init)
            let isFirst = end.map { end in refused.withLock { $0.insert(end).inserted } }
            return isFirst == true ? TestServer.Response(status: status) : content.response(to: request)
        }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
    }

    @Test("A server that answers requests for ranges with the whole file sends it at most twice for the call")
    func ignored() async throws {
        let content = content
        let server = try TestServer { _ in
            content.response(status: 200, content.data, ["Accept-Ranges": "bytes"])
        }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(server.requestCount <= 5)
    }

    @Test("A server whose file changes meanwhile is asked for the whole file, and no bytes are mixed")
    func changed() async throws {
        let (content, other) = (content, ServedFile(size: Self.size + 3, seed: 2))
        let server = try TestServer { request in
            request.index == 0 ? content.response(to: request) : other.response(to: request)
        }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == other.data.whole)
    }

    enum Fault: CaseIterable {
        case longerRange, otherRange, otherLength, otherTag, cutRange, endlessRange, emptyRange, brokenConnection
    }

    @Test("Malformed responses to ranges do not change the file", arguments: Fault.allCases)
    func malformed(fault: Fault) async throws {
        let content = content
        let server = try TestServer { request in
            guard request.index == 2, let (first, last) = request.headers["range"].flatMap(ServedFile.range) else {
                return content.response(to: request)
            }
            let end = last ?? Self.size - 1
            func part(_ range: ClosedRange<Int>, _ length: Int = Self.size, tag: String = "\"v1\"")
                -> TestServer.Response
            {
                let body = content.data[max(0, range.lowerBound)...min(range.upperBound, Self.size - 1)]
                let field = "bytes \(range.lowerBound)-\(range.upperBound)/\(length)"
                return TestServer.Response(status: 206, headers: ["ETag": tag, "Content-Range": field], body: body)
            }
            let head: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes \(first)-\(end)/\(Self.size)"]
            switch fault {
            case .longerRange: return part(first...min(end + 10, Self.size))
            case .otherRange: return part(first - 1...end)
            case .otherLength: return part(first...end, Self.size + 1)
            case .otherTag: return part(first...end, tag: "\"v2\"")
            case .cutRange: return content.response(to: request, cut: 1000)
            case .endlessRange:
                return TestServer.Response(status: 206, headers: head, body: content.data + content.data)
            case .emptyRange: return TestServer.Response(status: 206, headers: head, body: Data())
            case .brokenConnection: return [.close]
            }
        }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
    }

    // MARK: Continuing

    /// Makes a call that fails when its responses are cut. Returns the server, which sends whole responses from then
    /// on, and the number of requests so far.
    private func fail() async throws -> (server: TestServer, requestCount: Int) {
        let content = content
        let isCut = Locked(true)
        let server = try TestServer { request in
            content.response(to: request, cut: isCut.withLock(\.self) ? 300_000 : nil)
        }
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect(error.kind == .connectionLost)
        isCut.withLock { $0 = false }
        return (server, server.requestCount)
    }

    private func position(of request: TestServer.Request) -> Int? {
        request.headers["Range"].flatMap(ServedFile.first)
    }

    @Test("A download that was cut continues each of its ranges", arguments: [1, 2, 4])
    func continued(count: Int) async throws {
        let (server, requestCount) = try await fail()
        _ = try await provider.request(target(server, count))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
        let positions = server.requests.dropFirst(requestCount).compactMap(position).sorted()
        // The other ranges may have been cancelled before all of their bytes had arrived.
        #expect(positions.allSatisfy { $0 % Self.segment <= 300_000 })
        #expect(positions.first == 300_000)
        #expect(Set(positions.map { $0 / Self.segment }) == [0, 1, 2, 3])
    }

    enum Damage: CaseIterable {
        case none, noPositions, emptyPositions, otherPositions, positionsPastEnd, linkedPositions, folderOfPositions
        case shortPart, otherSegments, otherBoot
    }

    @Test("Damaged positions are not used", arguments: Damage.allCases)
    func damaged(damage: Damage) async throws {
        let (server, requestCount) = try await fail()
        let names = folder.names
        let part = try #require(names.first { $0.hasSuffix(".download") })
        let positions = folder.url.appendingPathComponent(part + ".positions")
        let recordFile = folder.url.appendingPathComponent(part + ".json")
        var record = try #require(PartRecord(try Data(contentsOf: recordFile)))
        var words = try Data(contentsOf: positions)
        #expect(words.count == 40)
        switch damage {
        case .none: break
        case .noPositions: try FileManager.default.removeItem(at: positions)
        case .emptyPositions: try Data().write(to: positions)
        case .otherPositions:
            words[0] ^= 1
            try words.write(to: positions)
        case .positionsPastEnd:
            words[words.startIndex + 15] = 0x7F
            try words.write(to: positions)
        case .linkedPositions:
            let other = try folder.file("other", words)
            try FileManager.default.removeItem(at: positions)
            try FileManager.default.createSymbolicLink(at: positions, withDestinationURL: other)
        case .folderOfPositions:
            try FileManager.default.removeItem(at: positions)
            try FileManager.default.createDirectory(at: positions, withIntermediateDirectories: false)
        case .shortPart: try content.data.prefix(1000).write(to: folder.url.appendingPathComponent(part))
        case .otherSegments:
            record.segments?.removeLast()
            try record.data.write(to: recordFile)
        case .otherBoot:
            record.boot = "other"
            try record.data.write(to: recordFile)
        }
        _ = try await provider.request(target(server))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        // The last request of the first call may be recorded late, but it has a range of its own.
        let next = server.requests[requestCount...].map(position)
        #expect(next.contains(300_000) == (damage == .none))
        #expect(next.contains(nil) == (damage != .none))
    }

    @Test("A paused download ends all of its requests, and continues them")
    func paused() async throws {
        let content = content
        let server = try TestServer { request in
            if request.index > 3 { return content.response(to: request) }
            guard let (first, last) = request.headers["range"].flatMap(ServedFile.range) else {
                return Self.stopping(content, after: 200_000)
            }
            let end = last ?? Self.size - 1
            let head = content.validators.merging([
                "Content-Range": "bytes \(first)-\(end)/\(Self.size)", "Content-Length": "\(end - first + 1)",
            ])
            return [.head(status: 206, headers: head), .body(content.data[first..<first + 200_000]), .hang]
        }
        let results = Recorder<Result<Response, TargetKitError>>()
        let steps = Recorder<Int64>()
        let handle = provider.request(target(server), on: DispatchQueue(label: "test")) { step in
            steps.append(step.completed)
        } completion: {
            results.append($0)
        }
        while server.requestCount < 4 {
            try Task.checkCancellation()
            await Task.yield()
        }
        handle.pause()
        await server.waitForConnections(closed: 4)
        #expect(results.count == 0)
        handle.resume()
        let response = try await results.element(0).get()
        #expect(response.file == file)
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("Cancelling all calls ends the ranges, and the scope waits for them")
    func cancelled() async throws {
        let content = content
        let server = try TestServer { request in
            request.headers["range"] == nil ? Self.stopping(content, after: 1000) : [.hang]
        }
        let (provider, target) = (provider, target(server))
        let task = Task { try await provider.request(target) }
        while server.requestCount < 4 {
            try Task.checkCancellation()
            await Task.yield()
        }
        provider.cancelAll()
        let error = await #expect(throws: TargetKitError.self) { try await task.value }
        #expect(error?.stage == .cancelled)
        await server.waitForConnections(closed: 4)
        #expect(folder.names.filter { $0.hasSuffix("file.bin") } == [])
    }
}
