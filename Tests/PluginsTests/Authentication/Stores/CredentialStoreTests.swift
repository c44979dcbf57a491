// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Credential stores", .throttled, .timeLimit(.minutes(2)))
struct CredentialStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var file: URL { folder.url.appending(path: "deep/er/session.json") }

    private func mode(_ url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func reason(_ body: () async throws -> Void) async -> CredentialFileError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? CredentialFileError)?.reason
        }
    }

    @Test("What is saved is loaded, by another store too, until it is cleared")
    func roundTrip() async throws {
        let store = FileCredentialStore<Token>(file)
        #expect(try await store.load() == nil)
        try await store.save(Token(1))
        try await store.save(Token(2))
        #expect(try await FileCredentialStore<Token>(file).load() == Token(2))
        try await store.clear()
        try await store.clear()
        #expect(try await store.load() == nil)
    }

    @Test("The file is its owner's alone, and so are the folders that are made for it; nothing else is left")
    func modes() async throws {
        try await FileCredentialStore<Token>(file).save(Token(1))
        #expect(try mode(file) == 0o600)
        #expect(try mode(file.deletingLastPathComponent()) == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path) == [
                "session.json"
            ]
        )
    }

    @Test("A file that others could read is replaced by one that they cannot")
    func tightens() async throws {
        let file = try folder.file("open.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        try await FileCredentialStore<Token>(file).save(Token(1))
        #expect(try mode(file) == 0o600)
    }

    @Test("A reader sees the old credential or the new one, never half of one")
    func atomic() async throws {
        let store = FileCredentialStore<Token>(file)
        try await store.save(Token(0))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...200 { try? await store.save(Token(number)) }
            }
            group.addTask {
                var last = 0
                for _ in 0..<200 {
                    let number = (try? await store.load())?.number ?? -1
                    #expect(number >= last)
                    last = number
                }
            }
        }
        #expect(try await store.load() == Token(200))
    }

    @Test("A link stays, and what it leads to is written")
    func link() async throws {
        let place = try folder.file("place.json")
        let link = folder.url.appending(path: "link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
        try await FileCredentialStore<Token>(link).save(Token(3))
        #expect(try await FileCredentialStore<Token>(place).load() == Token(3))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)) != nil)
    }

    @Test("What is no credential is an error that does not show it", arguments: ["", "{", #"{"number":"hunter2"}"#])
    func broken(_ text: String) async throws {
        let file = try folder.file("broken.json", Data(text.utf8))
        let store = FileCredentialStore<Token>(file)
        #expect(await reason { _ = try await store.load() } == .broken)
        await #expect(throws: CredentialFileError.self) { try await store.load() }
        do {
            _ = try await store.load()
        } catch {
            #expect("\(error) \(error.localizedDescription)".contains("broken.json"))
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test("A place that cannot be used is an error that says why, and leaves nothing behind")
    func places() async throws {
        let plain = try folder.file("plain")
        let inFile = FileCredentialStore<Token>(plain.appending(path: "session.json"))
        #expect(try await inFile.load() == nil)
        guard case .noFolder = await reason({ try await inFile.save(Token(1)) }) else { throw Boom() }
        let onFolder = FileCredentialStore<Token>(folder.url)
        guard case .unreadable = await reason({ _ = try await onFolder.load() }) else { throw Boom() }
        let parent = folder.url.appending(path: "full")
        try FileManager.default.createDirectory(
            at: parent.appending(path: "name/inside"),
            withIntermediateDirectories: true
        )
        let onFullFolder = FileCredentialStore<Token>(parent.appending(path: "name"))
        guard case .unwritable = await reason({ try await onFullFolder.save(Token(1)) }) else { throw Boom() }
        guard case .unremovable = await reason({ try await onFullFolder.clear() }) else { throw Boom() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["name"])
        let remote = FileCredentialStore<Token>(.shop)
        #expect(await reason { _ = try await remote.load() } == .notAFile)
        #expect(await reason { try await remote.save(Token(1)) } == .notAFile)
    }

    @Test("A credential that cannot be encoded leaves the old one in its place")
    func unencodable() async throws {
        struct Half: Codable, Sendable, Equatable { var share: Double }
        let store = FileCredentialStore<Half>(file)
        try await store.save(Half(share: 0.5))
        #expect(await reason { try await store.save(Half(share: .nan)) } == .unencodable)
        #expect(try await store.load() == Half(share: 0.5))
    }

    @Test("Of two writers each can save, and the file has what one of them has saved")
    func twoWriters() async throws {
        let file = file
        try await FileCredentialStore<Token>(file).save(Token(0))
        await withTaskGroup(of: Void.self) { group in
            for writer in 1...2 {
                group.addTask {
                    let store = FileCredentialStore<Token>(file)
                    for number in 1...300 {
                        await #expect(throws: Never.self) { try await store.save(Token(writer * 1000 + number)) }
                    }
                }
            }
        }
        let last = try #require(try await FileCredentialStore<Token>(file).load()).number
        #expect([1300, 2300].contains(last))
    }

    @Test(
        "The first change an hour later removes the part files of a killed process, and no others",
        arguments: [true, false]
    )
    func leftovers(_ saves: Bool) async throws {
        let own = [".session.json.1a2b.part", ".session.json.z.part"]
        let others = [
            ".session.json.a.part.1.part", ".session.json..part", ".other.json.1a2b.part", ".session.json.new.part",
        ]
        for name in own + others {
            let file = try folder.file(name)
            // A young one may belong to a writer at work.
            let age: TimeInterval = name.contains("new") ? 3000 : 4000
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)],
                ofItemAtPath: file.path
            )
        }
        let store = FileCredentialStore<Token>(folder.url.appending(path: "session.json"))
        if saves { try await store.save(Token(1)) } else { try await store.clear() }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(names) == Set(others + (saves ? ["session.json"] : [])))
    }
}
