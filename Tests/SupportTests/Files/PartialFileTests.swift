// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import _TargetKitSupport

@Suite("PartialFile", .throttled)
struct PartialFileTests {
    @Test("A hidden file is its user's alone, and its copy of another file has that file's permissions")
    func mode() throws {
        let folder = try TemporaryFolder()
        let old = try folder.file("old", Data("old".utf8))
        #expect(chmod(old.path, 0o644) == 0)
        let place = folder.url.appendingPathComponent("new")
        let file = try PartialFile(beside: place)
        #expect(file.url.mode == 0o600)
        try PartialFile(copying: old, beside: place).move(to: place)
        #expect(place.mode == 0o644)
        #expect(try Data(contentsOf: place) == Data("old".utf8))
        withExtendedLifetime(file) {}
    }

    @Test("A file is written from its start, keeps its permissions, and is not removed")
    func writing() throws {
        let folder = try TemporaryFolder()
        let place = try folder.file("body", Data("old bytes".utf8))
        #expect(chmod(place.path, 0o600) == 0)
        try PartialFile(writing: place).append(Data("new".utf8))
        #expect(try Data(contentsOf: place) == Data("new".utf8))
        #expect(place.mode == 0o600)
        let new = folder.url.appendingPathComponent("new")
        _ = try PartialFile(writing: new)
        #expect(new.mode == PartialFile.usualPermissions(beside: new))
        #expect(folder.names.sorted() == ["body", "new"])
    }

    @Test("Writing to a pipe without a reader, or to a URL that is no file's, fails at once")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        for url in [pipe, try #require(URL(string: "https://example.com/a"))] {
            let error = #expect(throws: URLError.self) { _ = try PartialFile(writing: url) }
            #expect(error?.code == .cannotCreateFile)
        }
    }

    @Test("The usual permissions are those of a new file")
    func newFile() throws {
        let folder = try TemporaryFolder()
        let usual = folder.url.appendingPathComponent("usual")
        close(open(usual.path, O_WRONLY | O_CREAT, 0o666))
        #expect(PartialFile.usualPermissions(beside: usual) == usual.mode)
        #expect(folder.names == ["usual"])
    }

    @Test("A file that cannot be moved to its place, or is not moved, leaves nothing behind")
    func unmoved() throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        for isMoved in [true, false] {
            let file = try PartialFile(beside: folder.url.appendingPathComponent("file"))
            try file.append(Data("new".utf8))
            if isMoved { #expect(throws: URLError.self) { try file.move(to: place) } }
        }
        #expect(folder.names == ["place"])
    }

    @Test("Of the files with temporary names, those for one place are removed that no process uses")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("film.mp4")
        let used = try PartialFile(beside: place)
        let left = PartialFile.hiddenPlace(beside: place)
        let other = PartialFile.hiddenPlace(beside: folder.url.appendingPathComponent("film.mov"))
        let download = folder.url.appendingPathComponent(".film.mp4.0123456789abcdef.download")
        for file in [left, other, download, place] { try Data("left".utf8).write(to: file) }
        PartialFile.removeLeftovers(of: place)
        #expect(folder.names.count == 5)
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
