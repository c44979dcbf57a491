// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

@Suite("A cookie store in a file", .throttled, .timeLimit(.minutes(2)))
struct CookieFileTests {
    private let time = ManualDate()
    private let folder: TemporaryFolder
    private let file: URL
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        file = folder.url.appendingPathComponent("cookies.json")
        url = try #require(URL(string: "https://example.org/"))
    }

    private func open() throws -> CookieStore {
        try CookieStore(file: file, now: { [time] in time.now })
    }

    private func failure(_ body: () throws -> Void) -> CookieFileError? {
        do { try body() } catch { return error as? CookieFileError }
        return nil
    }

    @Test("The next store has the same cookies, except session cookies")
    func persists() throws {
        let first = try open()
        first.store(
            ["b=1; Max-Age=60; Secure; HttpOnly", "a=2; Max-Age=9; Domain=example.org; Path=/x", "session=3"],
            from: url
        )
        time.advance(by: 1)
        first.store(["c=ü\"3\"; Max-Age=60"], from: url)
        let second = try open()
        #expect(second.cookies == first.cookies.filter { $0.expires != nil })
        #expect(second.cookies.count == 3)
        time.advance(by: 10)
        #expect(try open().cookies.map(\.name) == ["b", "c"])
    }

    @Test("Only its owner can read it, and no other file remains in the folder")
    func mode() throws {
        _ = try folder.file("cookies.json", Data(#"{"version":1,"cookies":[]}"#.utf8))
        try open().store(["a=1; Max-Age=9"], from: url)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(folder.names == ["cookies.json"])
    }

    @Test("It is written only when a persistent cookie changes")
    func writesChanges() throws {
        let store = try open()
        store.store(["a=1"], from: url)
        _ = store.header(for: url)
        #expect(folder.names.isEmpty)
        store.store(["b=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT"], from: url)
        #expect(try open().cookies.map(\.name) == ["b"])
        try FileManager.default.removeItem(at: file)
        store.store(["b=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "a=2", "none=1; Max-Age=0"], from: url)
        #expect(folder.names.isEmpty)
        store.store(["b=2"], from: url)
        #expect(try open().cookies.isEmpty)
        #expect(folder.names == ["cookies.json"])
    }

    @Test("A removed cookie is removed from the file")
    func removes() throws {
        let store = try open()
        store.store(["a=1; Max-Age=9", "b=1; Max-Age=9"], from: url)
        store.remove { $0.name == "a" }
        #expect(try open().cookies.map(\.name) == ["b"])
        store.removeAll()
        #expect(try open().cookies.isEmpty)
    }

    @Test("A link is followed and kept")
    func link() throws {
        let real = try folder.file("real.json", Data(#"{"version":1,"cookies":[]}"#.utf8))
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: real)
        try open().store(["a=1; Max-Age=9"], from: url)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path).hasSuffix("real.json"))
        #expect(try String(contentsOf: real, encoding: .utf8).contains("example.org"))
    }

    @Test(
        "A file without cookies is an error that suggests a remedy",
        arguments: [
            "", "{", "[]", #"{"version":2,"cookies":[]}"#, #"{"version":1}"#,
            #"{"version":1,"cookies":[{"name":"a"}]}"#,
            #"""
            {"version":1,"cookies":[{"name":"a","value":"s3cret\r\nX: y","domain":"e.org","isHostOnly":true,"path":"/",
            "isSecure":false,"isHTTPOnly":false,"created":0,"expires":99999999999}]}
            """#,
        ]
    )
    func broken(content: String) throws {
        _ = try folder.file("cookies.json", Data(content.utf8))
        let error = try #require(failure { _ = try open() })
        guard case .broken = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(error.path.hasSuffix("cookies.json"))
        #expect(error.description.contains("delete it to start without cookies"))
        #expect(!error.description.contains("s3cret"))
        #expect(try Data(contentsOf: file) == Data(content.utf8))
    }

    @Test("A path at which no file can be created is an error immediately")
    func places() throws {
        let remote = try #require(URL(string: "https://example.org/cookies.json"))
        #expect(failure { _ = try CookieStore(file: remote) }?.reason == .notAFile)
        let nowhere = folder.url.appendingPathComponent("none/cookies.json")
        #expect(failure { _ = try CookieStore(file: nowhere) }?.reason == .noFolder)
        #expect(failure { _ = try CookieStore(file: folder.url) }?.reason == .unreadable)
    }

    @Test("When the file cannot be written the closure is called, and the next change writes all cookies")
    func writeFailure() throws {
        let failures = Locked<[any Error]>([])
        let store = try CookieStore(
            file: file,
            onWriteFailure: { error in failures.withLock { $0.append(error) } },
            now: { [time] in time.now }
        )
        try FileManager.default.removeItem(at: folder.url)
        store.store(["a=1; Max-Age=9"], from: url)
        #expect(store.header(for: url) == "a=1")
        #expect(failures.withLock { $0.count } == 1)
        #expect(failures.withLock { $0.first }?.localizedDescription.contains("older than those in memory") == true)
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        store.store(["b=1; Max-Age=9"], from: url)
        #expect(failures.withLock { $0.count } == 1)
        #expect(try open().cookies.map(\.name) == ["a", "b"])
    }

    @Test("Cookies stored by many threads are all in the file when the calls have returned")
    func concurrent() async throws {
        let store = try open()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { [url] in
                    store.store(["n\(number)=1; Max-Age=60"], from: url)
                    _ = store.header(for: url)
                }
            }
        }
        #expect(store.cookies.count == 40)
        #expect(Set(try open().cookies.map(\.name)) == Set(store.cookies.map(\.name)))
        #expect(folder.names == ["cookies.json"])
    }
}
