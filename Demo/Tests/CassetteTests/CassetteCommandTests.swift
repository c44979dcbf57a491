// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import TargetKitTesting
import Testing

@testable import cassette

@Suite("cassette", .timeLimit(.minutes(1)))
struct CassetteCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID())")

    private func report(_ arguments: String...) throws -> (lines: [String], remarks: [String]) {
        let archive = try Fixture("traffic.har").url().path
        let command = try CassetteCommand.parseAsRoot([archive] + arguments)
        return try #require(command as? CassetteCommand).report()
    }

    private func message(_ arguments: String...) throws -> String {
        let archive = try Fixture("traffic.har").url().path
        do {
            let command = try CassetteCommand.parseAsRoot([archive] + arguments)
            _ = try (command as? CassetteCommand)?.report()
            return ""
        } catch {
            return CassetteCommand.message(for: error)
        }
    }

    @Test("Without a folder, the entries are listed, with secrets redacted")
    func list() throws {
        let (lines, _) = try report()
        #expect(lines[0] == "001-GET-v1-teas: GET https://shop.example/v1/teas?token=<redacted> → 200")
        #expect(lines.last == "Write them with --to <folder>.")
        #expect(lines.count == 4)
    }

    @Test("The entries of a host and path are written without secrets, and a test replays them")
    func conversion() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (lines, remarks) = try report(
            "--to",
            folder.path,
            "--host",
            "SHOP.example",
            "--path",
            "/v1",
            "--secret",
            "iban",
            "--secret",
            "x-shop"
        )
        #expect(lines.count == 2)
        #expect(lines.last?.hasPrefix("1 entry in \(folder.path).") == true)
        #expect(remarks.count == 2)
        #expect(remarks.first?.contains("was omitted: response.content.text is missing, although 512 bytes") == true)
        #expect(remarks.last?.hasSuffix("/news) was omitted: it was blocked, cancelled, or failed") == true)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            #expect(!text.contains("s3cr3t"), "\(name)")
        }
        let provider = Provider<MultiTarget>(transport: CassetteTransport(.replay, folder: folder))
        let url = try #require(URL(string: "https://shop.example/v1/teas?token=another"))
        let response = try await provider.request(MultiTarget(URLTarget(url)))
        #expect(try response.string() == #"[{"iban":"<redacted>","name":"Sencha"}]"#)
        #expect(try message("--to", folder.path).contains("has a cassette, for example 001-GET-v1-teas.json"))
    }

    @Test("Wrong arguments are errors that say what to write")
    func errors() throws {
        #expect(try message("--host", "a.example").hasSuffix("its hosts are cdn.example, shop.example"))
        #expect(try message("--path", "v1").contains("v1 isn't a path; write one such as /v1"))
        #expect(try message("--host", "https://a.example").contains("isn't a host; write one such as shop.example"))
        #expect(CassetteCommand.helpMessage().contains("USAGE: cassette <archive> [--to <folder>]"))
        let missing = try CassetteCommand.parse(["/none.har"])
        let error = #expect(throws: (any Error).self) { try missing.report() }
        #expect(CassetteCommand.message(for: try #require(error)) == "/none.har doesn't exist")
    }
}
