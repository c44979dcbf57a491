// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Credential stores", .timeLimit(.minutes(2)))
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

    private func reason(_ body: () throws -> Void) -> CredentialFileError.Reason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CredentialFileError)?.reason
        }
    }

    @Test("What is saved is loaded, by another store too, until it is cleared")
    func roundTrip() throws {
        let store = FileCredentialStore<Token>(file)
        #expect(try store.load() == nil)
        try store.save(Token(1))
        try store.save(Token(2))
        #expect(try FileCredentialStore<Token>(file).load() == Token(2))
        try store.clear()
        try store.clear()
        #expect(try store.load() == nil)
    }

    @Test("The file is its owner's alone, and so are the folders that are made for it; nothing else is left")
    func modes() throws {
        try FileCredentialStore<Token>(file).save(Token(1))
        #expect(try mode(file) == 0o600)
        #expect(try mode(file.deletingLastPathComponent()) == 0o700)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path) == [
                "session.json"
            ]
        )
    }

    @Test("A file that others could read is replaced by one that they cannot")
    func tightens() throws {
        let file = try folder.file("open.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        try FileCredentialStore<Token>(file).save(Token(1))
        #expect(try mode(file) == 0o600)
    }

    @Test("A reader sees the old credential or the new one, never half of one")
    func atomic() async throws {
        let store = FileCredentialStore<Token>(file)
        try store.save(Token(0))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...200 { try? store.save(Token(number)) }
            }
            group.addTask {
                var last = 0
                for _ in 0..<200 {
                    let number = (try? store.load())?.number ?? -1
                    #expect(number >= last)
                    last = number
                }
            }
        }
        #expect(try store.load() == Token(200))
    }

    @Test("A link stays, and what it leads to is written")
    func link() throws {
        let place = try folder.file("place.json")
        let link = folder.url.appending(path: "link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: place)
        try FileCredentialStore<Token>(link).save(Token(3))
        #expect(try FileCredentialStore<Token>(place).load() == Token(3))
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: link.path)) != nil)
    }

    @Test("What is no credential is an error that does not show it", arguments: ["", "{", #"{"number":"hunter2"}"#])
    func broken(_ text: String) throws {
        let file = try folder.file("broken.json", Data(text.utf8))
        let store = FileCredentialStore<Token>(file)
        #expect(reason { _ = try store.load() } == .broken)
        #expect(throws: CredentialFileError.self) { try store.load() }
        do {
            _ = try store.load()
        } catch {
            #expect("\(error) \(error.localizedDescription)".contains("broken.json"))
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    @Test("A place that cannot be used is an error that says why, and leaves nothing behind")
    func places() throws {
        let plain = try folder.file("plain")
        let inFile = FileCredentialStore<Token>(plain.appending(path: "session.json"))
        #expect(try inFile.load() == nil)
        guard case .noFolder = reason({ try inFile.save(Token(1)) }) else { throw Boom() }
        let onFolder = FileCredentialStore<Token>(folder.url)
        guard case .unreadable = reason({ _ = try onFolder.load() }) else { throw Boom() }
        let parent = folder.url.appending(path: "full")
        try FileManager.default.createDirectory(
            at: parent.appending(path: "name/inside"),
            withIntermediateDirectories: true
        )
        let onFullFolder = FileCredentialStore<Token>(parent.appending(path: "name"))
        guard case .unwritable = reason({ try onFullFolder.save(Token(1)) }) else { throw Boom() }
        guard case .unremovable = reason({ try onFullFolder.clear() }) else { throw Boom() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path) == ["name"])
        let remote = FileCredentialStore<Token>(.shop)
        #expect(reason { _ = try remote.load() } == .notAFile)
        #expect(reason { try remote.save(Token(1)) } == .notAFile)
    }

    @Test("A credential that cannot be encoded leaves the old one in its place")
    func unencodable() throws {
        struct Half: Codable, Sendable, Equatable { var share: Double }
        let store = FileCredentialStore<Half>(file)
        try store.save(Half(share: 0.5))
        #expect(reason { try store.save(Half(share: .nan)) } == .unencodable)
        #expect(try store.load() == Half(share: 0.5))
    }

    @Test("What a killed process has left goes with the next change, and nothing else", arguments: [true, false])
    func leftovers(_ saves: Bool) throws {
        let own = [".session.json.part-1a2b", ".session.json.part-z"]
        let others = [".session.json.part-a.part-1", ".session.json.part-", ".other.json.part-1a2b"]
        for name in own + others { _ = try folder.file(name) }
        let store = FileCredentialStore<Token>(folder.url.appending(path: "session.json"))
        if saves { try store.save(Token(1)) } else { try store.clear() }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(Set(names) == Set(others + (saves ? ["session.json"] : [])))
    }
}
