// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTestingTraits
import TargetKitTransportConformance
import TestSupport
import Testing

/// `shop.har` in `Pages/Fixtures`, as a test beside that folder names it.
private let pageSource = #filePath.replacingOccurrences(of: "Cassettes/", with: "Pages/")

private let base = URL(string: "https://shop.example/v1") ?? URL(fileURLWithPath: "/")

@Suite("CassetteTrait", .throttled, .replays("shop", source: pageSource), .timeLimit(.minutes(2)))
struct CassetteTraitTests {
    private func products() async throws -> String {
        try await CassetteTransport.current.send(TestCall(path: "/products").request(to: base)).text
    }

    @Test("Each case of a test has its own entries", arguments: 1...8)
    func cases(_ number: Int) async throws {
        async let text = products()
        #expect(try await text.contains("Sencha"))
        #expect(try CassetteTransport.current.unusedEntries.isEmpty)
        await #expect(throws: (any Error).self) { try await products() }
    }

    @Test("The trait of a test replaces its suite's", .replays("shop.har", repeats: true, source: pageSource))
    func own() async throws {
        _ = try await products()
        #expect(try await products().contains("Sencha"))
    }

    @Test("A detached task has no cassette, and its calls say what to do")
    func detached() async throws {
        let error = await Task.detached { () -> (any Error)? in
            do {
                _ = try await CassetteTransport.current.send(TestCall().request(to: base))
                return nil
            } catch {
                return error
            }
        }.value
        #expect("\(try #require(error))".hasPrefix("there is no current cassette; add the trait .replays(\"name\")"))
    }
}

@Suite("NamedCassette", .throttled, .timeLimit(.minutes(2)))
struct NamedCassetteTests {
    private let folder: TemporaryFolder
    private let har = Data(
        (#"{"log":{"entries":[{"request":{"method":"GET","url":"https://shop.example/v1/"},"#
            + #""response":{"status":200,"content":{"text":"archive"}}}]}}"#).utf8
    )

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.file("Package.swift")
        let tests = folder.url.appendingPathComponent("Tests/Fixtures")
        try FileManager.default.createDirectory(at: tests, withIntermediateDirectories: true)
    }

    private func text(_ name: String = "teas", mode: String? = nil) async throws -> String {
        let source = folder.url.appendingPathComponent("Tests/Shop/ShopTests.swift").path
        let transport =
            switch try NamedCassette(name, in: nil, source: source).place(mode: mode) {
            case .folder(let folder, let mode):
                CassetteTransport(
                    mode,
                    folder: folder,
                    recording: StubTransport(.response(status: 200, data: Data("recorded".utf8)))
                )
            case .archive(let file): CassetteTransport(har: file)
            }
        return try await transport.send(TestCall().request(to: base)).text
    }

    @Test(
        "A new cassette is recorded beside the test, and replayed from then on",
        arguments: ["record", "auto", "AUTO"]
    )
    func recording(mode: String) async throws {
        #expect(try await text("a/teas", mode: mode) == "recorded")
        let file = folder.url.appendingPathComponent("Tests/Shop/Fixtures/a/teas/001-GET-v1.json")
        #expect(FileManager.default.fileExists(atPath: file.path))
        #expect(try await text("a/teas") == "recorded")
    }

    @Test("An archive in a parent's folder is replayed until a folder was recorded", arguments: ["teas", "teas.har"])
    func archive(name: String) async throws {
        let file = folder.url.appendingPathComponent("Tests/Fixtures/teas.har")
        try har.write(to: file)
        #expect(try await text(name) == "archive")
        #expect(try await text(name, mode: "auto") == "archive")
        #expect(try await text(name, mode: "record") == "recorded")
        #expect(try await text("teas") == "recorded")
        #expect(try Data(contentsOf: file) == har)
    }

    @Test("A missing cassette is an error with the searched locations and how to record it")
    func missing() async throws {
        let error = await #expect(throws: CassetteError.self) { try await text() }
        let lines = try #require(error?.description.split(separator: "\n").map(String.init))
        #expect(lines.first?.contains("no cassette \"teas\"") == true)
        #expect(lines.contains("  " + folder.url.appendingPathComponent("Tests/Fixtures/teas").path))
        #expect(lines.last == "Set TARGETKIT_CASSETTES=record in the environment to record it.")
    }

    @Test("An unknown mode is an error with the known ones")
    func unknownMode() async {
        let error = await #expect(throws: CassetteError.self) { try await text(mode: "yes") }
        #expect(error?.description == "TARGETKIT_CASSETTES is \"yes\"; use replay, record or auto, or remove it")
    }
}
