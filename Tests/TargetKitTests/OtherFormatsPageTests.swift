// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the page about formats other than JSON, compiled and run.
@Suite("Page: Formats other than JSON", .throttled, .timeLimit(.minutes(1)))
struct OtherFormatsPageTests {
    private let provider = Provider<Station>(stubClosure: { _ in .immediate })

    @Test("A property list is decoded by the call's decoder")
    func propertyList() async throws {
        let settings = try await provider.request(
            .settings,
            as: Settings.self,
            options: .setting(\.decoder, PropertyListDecoder())
        )
        #expect(settings == Settings(name: "North", interval: 60))
    }

    @Test("A value that can't be decoded is retried if a closure says so")
    func retry() async throws {
        let clock = ManualClock()
        let transport = StubTransport(routes: [.any: .sequence(.text("<html>"), .status(503), .targetSample)])
        let retry = RetryPlugin(shouldRetry: { result, _ in
            guard case .failure(let error) = result, error.stage == .decoding else { return nil }
            return true
        })
        let provider = Provider<Station>(transport: transport, plugins: [retry])
        _ = provider
        let slow = Provider<Station>(transport: transport, plugins: [retry], clock: clock)
        let options = CallOptions.setting(\.decoder, PropertyListDecoder())
        async let settings = slow.request(.settings, as: Settings.self, options: options)
        for _ in 0..<2 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
        }
        #expect(try await settings.name == "North")
    }

    @Test("A decoder of one's own is created for each body")
    func ownDecoder() async throws {
        let options = CallOptions.setting(\.decoder, LineDecoder())
        #expect(try await provider.request(.names, as: [String].self, options: options) == ["North", "South"])
    }

    @Test("A value that isn't decodable is made by a closure, alone or with its response")
    func closures() async throws {
        let reading = try await provider.request(.reading, decoding: .reading)
        #expect(reading == Reading(celsius: 21.5))
        let (newest, response) = try await provider.request(
            .reading,
            decoding: BodyDecoding.reading.withResponse
        )
        let age = response.headers["Age"]
        #expect(newest == reading)
        #expect(age == "7")
    }

    @Test("A closure that needs the header fields receives the response")
    func wholeResponse() async throws {
        let titles = BodyDecoding(response: { response in
            guard response.headers[.contentType]?.hasPrefix("application/rss+xml") == true else { return [String]() }
            return FeedParser.titles(in: response.data)
        })
        #expect(try await provider.request(.feed, decoding: titles) == ["Storm", "Sun"])
        #expect(try await provider.request(.names, decoding: titles) == [])
    }

    @Test(
        "A body is encoded by an encoder or a closure, with its type",
        arguments: [
            (Station.task(naming: ["North", "South"]), "text/plain", Data("North\nSouth".utf8)),
            (
                Station.task(reporting: Reading(celsius: 21.5)), "application/octet-stream",
                Data([0x41, 0xAC, 0, 0])
            ),
        ]
    )
    func bodies(task: HTTPTask, contentType: String, bytes: Data) throws {
        let request = try Endpoint(url: .example, method: .post, task: task).urlRequest()
        #expect(request.value(forHTTPHeaderField: "Content-Type") == contentType)
        #expect(request.httpBody == bytes)
    }

    @Test("A property list is encoded as the decoder reads it, unless the header says another type")
    func propertyListBody() throws {
        let settings = Settings(name: "North", interval: 60)
        let task = Station.task(saving: settings)
        let request = try Endpoint(url: .example, method: .put, task: task).urlRequest()
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
        #expect(try PropertyListDecoder().decode(Settings.self, from: request.httpBody ?? Data()) == settings)
        let own = Endpoint(url: .example, method: .put, task: task, headers: ["Content-Type": "text/xml"])
        #expect(try own.urlRequest().value(forHTTPHeaderField: "Content-Type") == "text/xml")
    }

    @Test("A cassette replays such bodies as bytes with their type, and finds a request by its body")
    func cassette() async throws {
        struct Saving: TargetType {
            var settings: Settings
            var baseURL: URL { .example }
            var path: RequestPath { "/settings" }
            var method: HTTPMethod { .put }
            var task: HTTPTask { Station.task(saving: settings) }
            var options: CallOptions { .setting(\.decoder, PropertyListDecoder()) }
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let (north, south) = (Settings(name: "North", interval: 60), Settings(name: "South", interval: 60))
        let list = try encoder.encode(north)
        let headers: HTTPHeaders = ["Content-Type": "application/x-plist"]
        let folder = try TemporaryFolder()
        let server = StubTransport(.response(status: 200, headers: headers, data: list))
        let recorder = Provider<Saving>(transport: CassetteTransport(.record, folder: folder.url, recording: server))
        #expect(try await recorder.request(Saving(settings: north), as: Settings.self) == north)
        let player = Provider<Saving>(transport: CassetteTransport(.replay, folder: folder.url))
        await #expect(throws: TargetKitError.self) { try await player.request(Saving(settings: south)) }
        let (replayed, response) = try await player.request(
            Saving(settings: north),
            decoding: BodyDecoding.decodable(Settings.self).withResponse
        )
        #expect(replayed == north)
        #expect(response.data == list)
        #expect(response.headers[.contentType] == "application/x-plist")
    }

    @Test("The error of an encoder fails the call before anything is sent")
    func encodingError() async throws {
        let error = #expect(throws: TargetKitError.self) {
            try Endpoint(url: .example, method: .post, task: .encoded(7, by: LineEncoder())).urlRequest()
        }
        #expect(error?.stage == .request)
        #expect(error?.underlying is DecodingError)
    }

    @Test("Every line of Swift on the page is a line of this file or of the example")
    func everySnippetIsHere() throws {
        let example = try DocumentationPage.lines(at: "Examples/Sources/Formats")
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/OtherFormatsPageTests.swift").union(
            example.map { $0.replacingOccurrences(of: "public ", with: "") }
        )
        let lines = try DocumentationPage("Sources/TargetKit/TargetKit.docc/OtherFormats.md").lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }
}

private struct Settings: Codable, Sendable, Equatable {
    var name: String
    var interval: Int
}

struct Reading: Sendable, Equatable {
    var celsius: Float
    var bytes: Data { withUnsafeBytes(of: celsius.bitPattern.bigEndian) { Data($0) } }
}

struct LineDecoder: BodyDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        return try JSONDecoder().decode(type, from: JSONEncoder().encode(lines))
    }
}

struct LineEncoder: BodyEncoder {
    var contentType: String { "text/plain" }

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let lines = try JSONDecoder().decode([String].self, from: JSONEncoder().encode(value))
        return Data(lines.joined(separator: "\n").utf8)
    }
}

extension Station {
    static func task(saving settings: Settings) -> HTTPTask {
        .encoded(settings, by: PropertyListEncoder())
    }

    static func task(naming stations: [String]) -> HTTPTask {
        .encoded(stations, by: LineEncoder())
    }

    static func task(reporting reading: Reading) -> HTTPTask {
        .encoded(contentType: "application/octet-stream") { reading.bytes }
    }
}

extension BodyDecoding<Reading> {
    /// A reading in four bytes, in network byte order.
    static var reading: Self {
        .init { data in
            guard data.count == 4 else { throw URLError(.cannotParseResponse) }
            return Reading(celsius: Float(bitPattern: data.reduce(0) { $0 << 8 | UInt32($1) }))
        }
    }
}

private enum FeedParser {
    static func titles(in data: Data) -> [String] {
        String(decoding: data, as: UTF8.self).components(separatedBy: "<title>").dropFirst()
            .compactMap { $0.components(separatedBy: "</title>").first }
    }
}

private enum Station: TargetType {
    case settings, names, reading, feed

    var baseURL: URL { .example }
    var path: RequestPath { "/" }
    var sampleResponse: SampleResponse {
        switch self {
        case .settings:
            let list = (try? PropertyListEncoder().encode(Settings(name: "North", interval: 60))) ?? Data()
            return .response(status: 200, data: list)
        case .names: return .response(status: 200, data: Data("North\nSouth\n".utf8))
        case .reading: return .response(status: 200, headers: ["Age": "7"], data: Data([0x41, 0xAC, 0, 0]))
        case .feed:
            let feed = "<rss><item><title>Storm</title></item><item><title>Sun</title></item></rss>"
            let headers: HTTPHeaders = ["Content-Type": "application/rss+xml; charset=utf-8"]
            return .response(status: 200, headers: headers, data: Data(feed.utf8))
        }
    }
}
