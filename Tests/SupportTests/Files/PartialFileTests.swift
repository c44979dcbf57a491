// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import _TargetKitSupport

@Suite("PartialFile", .throttled)
struct PartialFileTests {
    @Test(
        "A file has the permissions of the one that it replaces from the start",
        arguments: [0o600, 0o640, 0o400, 0o666] as [mode_t]
    )
    func mode(mode: mode_t) throws {
        let folder = try TemporaryFolder()
        let old = try folder.file("old", Data("old".utf8))
        #expect(chmod(old.path, mode) == 0)
        for isNamed in [true, false] {
            let file = try PartialFile(replacing: old, isNamed: isNamed)
            if isNamed { #expect(file.url.mode == mode) }
            try file.append(Data("new".utf8))
            try file.move(to: old)
            #expect(old.mode == mode)
            #expect(folder.names == ["old"])
        }
    }

    @Test("A new file has the default permissions")
    func newFile() throws {
        let folder = try TemporaryFolder()
        let descriptor = open(folder.url.appendingPathComponent("usual").path, O_WRONLY | O_CREAT, 0o666)
        close(descriptor)
        for isNamed in [true, false] {
            let new = folder.url.appendingPathComponent("new \(isNamed)")
            try PartialFile(replacing: new, isNamed: isNamed).move(to: new)
            #expect(new.mode == folder.url.appendingPathComponent("usual").mode)
        }
    }

    @Test("A file that cannot be moved to its place, or is not moved, leaves nothing behind", arguments: [true, false])
    func unmoved(isNamed: Bool) throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        for isMoved in [true, false] {
            let file = try PartialFile(replacing: folder.url.appendingPathComponent("file"), isNamed: isNamed)
            try file.append(Data("new".utf8))
            if isMoved { #expect(throws: URLError.self) { try file.move(to: place) } }
        }
        #expect(folder.names == ["place"])
    }

    @Test("Of the files with temporary names, those for one place are removed that no process uses")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("film.mp4")
        let used = try PartialFile(replacing: place, isNamed: true)
        let left = PartialFile.hiddenPlace(beside: place)
        // What a transport writes instead of a temporary file.
        let inner = PartialFile.hiddenPlace(beside: left)
        let other = PartialFile.hiddenPlace(beside: folder.url.appendingPathComponent("film.mov"))
        let download = folder.url.appendingPathComponent(".film.mp4.0123456789abcdef.download")
        for file in [left, inner, other, download, place] { try Data("left".utf8).write(to: file) }
        PartialFile.removeLeftovers(of: place)
        #expect(folder.names.count == 6)
        PartialFile.removeLeftovers(of: place, unchangedFor: 0)
        let names = [used.url, other, download, place].map(\.lastPathComponent)
        #expect(folder.names.sorted() == names.sorted())
        withExtendedLifetime(used) {}
    }
}

extension URL {
    fileprivate var mode: mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}
