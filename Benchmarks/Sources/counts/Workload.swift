// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitOffline
import Workloads

/// One kind of call, made as often as asked for.
enum Workload: String, CaseIterable {
    case stubbed
    case stubbedWithPlugins = "stubbed, 4 plugins"
    case stubbedByClosure = "stubbed, by closure"
    case hitOnDisk = "a hit on the disk"
    case oneAtATime = "one at a time"
    case oneAtATimeByClosure = "one at a time, by closure"
    case inFlight = "64 in flight"
    case inFlightWithPlugins = "64 in flight, 4 plugins"
    case streamed = "1 GB streamed"
    case uploaded = "256 MB from a file"

    /// A thousandth of a request, where a whole one takes too long under an instrument.
    private static let streamedBytes = 1_000_000
    private static let uploadedBytes = 256_000

    /// The number of counted parts in one request.
    var partsPerRequest: Int {
        switch self {
        case .streamed, .uploaded: 1000
        default: 1
        }
    }

    /// The number of parts in a run without an instrument.
    var count: Int {
        switch self {
        case .stubbed, .stubbedWithPlugins, .stubbedByClosure: 20_000
        case .hitOnDisk, .oneAtATime, .oneAtATimeByClosure, .inFlight, .inFlightWithPlugins: 12_800
        case .streamed, .uploaded: 1000
        }
    }

    /// The numbers of parts in two runs under an instrument.
    var instrumentedCounts: (short: Int, long: Int) {
        switch self {
        case .stubbed, .stubbedWithPlugins, .stubbedByClosure: (500, 2500)
        case .hitOnDisk, .oneAtATime, .oneAtATimeByClosure, .inFlight, .inFlightWithPlugins: (640, 3200)
        case .streamed, .uploaded: (20, 120)
        }
    }

    /// Makes `count` calls, or one call of `count` parts.
    func run(_ count: Int, server: URL) async throws {
        switch self {
        case .stubbed: try await Self.request(count, Self.stubbedProvider([]), server)
        case .stubbedWithPlugins: try await Self.request(count, Self.stubbedProvider(PluginSet.withLogger), server)
        case .stubbedByClosure:
            let provider = Self.stubbedProvider([])
            try await Self.requestByClosure(count, provider) { Search(baseURL: server, page: $0) }
        case .hitOnDisk: try await Self.hitOnDisk(count)
        case .oneAtATime: try await Self.ping(count, inFlight: 1, server)
        case .oneAtATimeByClosure:
            let provider = Provider<Ping>(transport: CurlTransport())
            try await Self.requestByClosure(count, provider) { _ in Ping(baseURL: server) }
        case .inFlight: try await Self.ping(count, inFlight: 64, server)
        case .inFlightWithPlugins: try await Self.ping(count, inFlight: 64, plugins: PluginSet.withLogger, server)
        case .streamed: try await Self.stream(count * Self.streamedBytes, server)
        case .uploaded: try await Self.upload(count * Self.uploadedBytes, server)
        }
    }

    /// Makes stubbed calls with one plugin, or without any.
    static func stub(_ count: Int, with plugin: (any Plugin)?, server: URL) async throws {
        try await request(count, stubbedProvider(plugin.map { [$0] } ?? []), server)
    }

    private static func stubbedProvider(_ plugins: [any Plugin]) -> Provider<Search> {
        Provider(stubClosure: { _ in .immediate }, plugins: plugins)
    }

    private static func request(_ count: Int, _ provider: Provider<Search>, _ server: URL) async throws {
        for page in 0..<count { keep(try await provider.request(Search(baseURL: server, page: page))) }
    }

    /// Each call starts in the completion of the one before.
    private static func requestByClosure<Target: TargetType>(
        _ count: Int,
        _ provider: Provider<Target>,
        _ target: @escaping @Sendable (Int) -> Target
    ) async throws {
        let queue = DispatchQueue(label: "counts")
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            @Sendable func call(_ page: Int) {
                guard page < count else { return continuation.resume() }
                provider.request(target(page), on: queue) { result in
                    if case .failure(let error) = result { return continuation.resume(throwing: error) }
                    call(page + 1)
                }
            }
            call(0)
        }
    }

    /// Each call is answered by a file with a body of 1 KB.
    private static func hitOnDisk(_ count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-counts-cache-\(getpid())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = ResponseCache(storedIn: folder, memoryLimit: 0, diskLimit: 1 << 20)
        let provider = Provider<URLTarget>(transport: CacheableAnswers(), plugins: [ResponseCachePlugin(cache)])
        guard let url = URL(string: "https://api.example.com/items") else { throw URLError(.badURL) }
        for _ in 0..<count { keep(try await provider.request(URLTarget(url)).data.count) }
    }

    private static func ping(_ count: Int, inFlight: Int, plugins: [any Plugin] = [], _ server: URL) async throws {
        let provider = Provider<Ping>(transport: CurlTransport(), plugins: plugins)
        let target = Ping(baseURL: server)
        try await makeCalls(count, inFlight: inFlight) { keep(try await provider.request(target).data.count) }
    }

    private static func stream(_ size: Int, _ server: URL) async throws {
        let provider = Provider<URLTarget>(transport: CurlTransport())
        var count = 0
        for try await piece in try await provider.stream(URLTarget(server.appending(path: "\(size)"))) {
            count += piece.count
        }
        guard count == size else { throw URLError(.networkConnectionLost) }
    }

    private static func upload(_ size: Int, _ server: URL) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "targetkit-counts-\(getpid())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(size))
        let provider = Provider<URLTarget>(transport: CurlTransport())
        let form: MultipartForm = [.text("backup", name: "title"), .file(file, name: "file", fileName: "backup.bin")]
        keep(try await provider.request(URLTarget(server, method: .post, task: .multipart(form))))
    }
}

/// Answers each call with a response that a cache stores.
private struct CacheableAnswers: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(
            head: ResponseHead(statusCode: 200, headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""]),
            body: .data(Data(repeating: 0x20, count: 1024))
        )
    }
}
