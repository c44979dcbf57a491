// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit

@Suite("PartialFile")
struct PartialFileTests {
    @Test(
        "A file has the permissions of the one that it replaces from the start",
        arguments: [0o600, 0o640, 0o400, 0o666] as [mode_t]
    )
    func mode(mode: mode_t) throws {
        let folder = try TemporaryFolder()
        let old = try folder.file("old", Data("old".utf8))
        #expect(chmod(old.path, mode) == 0)
        let file = try PartialFile(replacing: old)
        #expect(file.url.mode == mode)
        try file.append(Data("new".utf8))
        try file.move(to: old)
        #expect(old.mode == mode)
        #expect(folder.names == ["old"])
    }

    @Test("A new file has the default permissions")
    func newFile() throws {
        let folder = try TemporaryFolder()
        let descriptor = open(folder.url.appendingPathComponent("usual").path, O_WRONLY | O_CREAT, 0o666)
        close(descriptor)
        let file = try PartialFile(replacing: folder.url.appendingPathComponent("new"))
        #expect(file.url.mode == folder.url.appendingPathComponent("usual").mode)
    }
}

extension URL {
    fileprivate var mode: mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }
}
