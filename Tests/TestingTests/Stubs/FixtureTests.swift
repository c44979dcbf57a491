// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("Fixture", .throttled)
struct FixtureTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (name, text) in [
            ("Fixtures/orders/list.json", #"[{"id":1}]"#), ("tea.json", "{"), ("bytes.bin", "\u{FF}"), ("a.txt", "ä"),
            ("Sources/Tests/Inner/Test.swift", ""), ("Sources/Fixtures/near.json", "1"), ("Package.swift", ""),
        ] {
            let url = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url)
        }
        try Data([0xFF]).write(to: folder.url.appendingPathComponent("bytes.bin"))
    }

    @Test("It reads bytes, text and JSON")
    func reads() throws {
        #expect(try Fixture("bytes.bin", in: folder.url).data() == Data([0xFF]))
        #expect(try Fixture("a.txt", in: folder.url).text() == "ä")
        #expect(try Fixture("orders/list.json", in: folder.url).json() == [["id": 1]])
    }

    @Test(
        "The content type is that of the extension",
        arguments: [
            ("a.json", "application/json"), ("A.PNG", "image/png"), ("a/b.html", "text/html"),
            ("a", "application/octet-stream"), ("a.unknown", "application/octet-stream"),
        ]
    )
    func contentType(name: String, type: String) {
        #expect(Fixture(name, in: folder.url).contentType == type)
    }

    @Test("It is found in a bundle")
    func bundle() throws {
        let bundle = try #require(Bundle(path: folder.url.path))
        #expect(try Fixture("orders/list.json", in: bundle).text() == #"[{"id":1}]"#)
        // A processed resource is at the top of the bundle.
        #expect(try Fixture("drinks/tea.json", in: bundle).text() == "{")
    }

    @Test("It is found beside the source, and in the folders Fixtures up to the package's")
    func source() throws {
        let source = folder.url.appendingPathComponent("Sources/Tests/Inner/Test.swift").path
        #expect(try Fixture("Test.swift", source: source).text().isEmpty)
        #expect(try Fixture("near.json", source: source).text() == "1")
        #expect(try Fixture("orders/list.json", source: source).text() == #"[{"id":1}]"#)
        #expect(throws: (any Error).self) { try Fixture("tea.json", source: source).url() }
    }

    @Test("A missing file's error has every place that was searched, and files with similar names")
    func missing() throws {
        let path = folder.url.path
        let error = #expect(throws: (any Error).self) { try Fixture("orders/lists.json", in: folder.url).data() }
        let expected = """
            There is no fixture "orders/lists.json".
              Searched locations:
                \(path)/orders/lists.json
                \(path)/Fixtures/orders/lists.json
                \(path)/Resources/orders/lists.json
                \(path)/lists.json
              Similar files: Fixtures/orders/list.json
            """
        #expect(error.map { "\($0)" } == expected)
    }

    @Test(
        "A folder is not a fixture, and an empty name finds nothing",
        arguments: ["Fixtures", "", "/", "..", "Fixtures/"]
    )
    func folders(name: String) {
        #expect(throws: (any Error).self) { try Fixture(name, in: folder.url).url() }
    }

    @Test("The error for a file that is not text or JSON names the file")
    func unreadable() throws {
        let text = #expect(throws: (any Error).self) { try Fixture("bytes.bin", in: folder.url).text() }
        #expect(text.map { "\($0)" } == "The fixture bytes.bin isn't UTF-8 text.")
        let json = #expect(throws: (any Error).self) { try Fixture("tea.json", in: folder.url).json() }
        #expect(json.map { "\($0)".hasPrefix("The fixture tea.json isn't valid JSON: ") } == true)
    }

    @Test("A stub answers with a file, or fails with the places that were searched")
    func stub() async throws {
        let transport = StubTransport(routes: [
            .get("/products/1"): .file(Fixture("orders/list.json", in: folder.url), status: 206),
            .any: .file(Fixture("none.json", in: folder.url)),
        ])
        let provider = Provider<TeaShop>(transport: transport)
        let response = try await provider.request(.product(id: 1))
        #expect(response.statusCode == 206)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.data == Data(#"[{"id":1}]"#.utf8))
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 2)) }
        #expect(error?.description.contains(#"There is no fixture "none.json". Searched locations:"#) == true)
        #expect(error?.description.contains("\(folder.url.path)/none.json") == true)
    }
}
