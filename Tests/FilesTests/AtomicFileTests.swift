// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing
import _TargetKitFiles

@Suite("Atomic files", .throttled, .timeLimit(.minutes(2)))
struct AtomicFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var url: URL { folder.url.appendingPathComponent("state.json") }

    @Test("A file is written with mode 0600, read and removed")
    func roundTrip() throws {
        let file = AtomicFile(url)
        #expect(try file.read() == nil)
        try file.write(Data("one".utf8))
        try file.write(Data("two".utf8))
        #expect(try file.read() == Data("two".utf8))
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(folder.names == ["state.json"])
        try file.remove()
        try file.remove()
        #expect(try file.read() == nil)
    }

    @Test("Contents of any length are read whole", arguments: [0, 1, 4095, 4096, 4097, 100_000])
    func lengths(_ count: Int) throws {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try AtomicFile(url).write(data)
        #expect(try AtomicFile(url).read() == data)
    }

    @Test("Of many writers each succeeds, and a reader meets whole contents only")
    func writers() async throws {
        let url = url
        try AtomicFile(url).write(Data(repeating: 0, count: 3000))
        await withTaskGroup(of: Void.self) { group in
            for writer in 1...4 {
                group.addTask {
                    for _ in 0..<40 {
                        #expect(throws: Never.self) {
                            try AtomicFile(url).write(Data(repeating: UInt8(writer), count: 3000 + writer))
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<200 {
                    let data = (try? AtomicFile(url).read()) ?? Data()
                    let first = data.first ?? 0
                    #expect(data == Data(repeating: first, count: 3000 + Int(first)))
                }
            }
        }
        #expect(folder.names == ["state.json"])
    }

    @Test("A failed write leaves the old contents and no part file")
    func failedWrite() throws {
        try FileManager.default.createDirectory(
            at: url.appendingPathComponent("inside"),
            withIntermediateDirectories: true
        )
        let error = #expect(throws: AtomicFile.Failure.self) { try AtomicFile(url).write(Data("x".utf8)) }
        #expect(error?.operation == .write)
        #expect(folder.names == ["state.json"])
    }

    @Test("Missing folders are created on request", arguments: [true, false])
    func folders(_ creates: Bool) throws {
        let deep = folder.url.appendingPathComponent("a/b/state.json")
        let file = AtomicFile(deep, createsFolder: creates)
        if creates {
            try file.write(Data())
            #expect(try file.read() == Data())
        } else {
            #expect(throws: AtomicFile.Failure.self) { try file.write(Data()) }
            #expect(folder.names == [])
        }
    }

    @Test("A URL that is not a file URL is refused")
    func location() throws {
        let remote = try #require(URL(string: "https://shop.example/state.json"))
        let error = #expect(throws: AtomicFile.Failure.self) { try AtomicFile(remote).read() }
        #expect(error?.operation == .locate)
    }
}
