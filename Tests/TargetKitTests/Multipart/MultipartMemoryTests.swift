// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("Memory of a large form", .throttled, .timeLimit(.minutes(2)))
struct MultipartMemoryTests {
    // In a process of its own: other tests' memory would count, and another user may be chosen.
    @Test("A form with a file of 1 GiB is read within 16 MiB, and its length is known before")
    func gibibyte() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let url = try folder.file("sparse.bin")
            let handle = try FileHandle(forWritingTo: url)
            try handle.truncate(atOffset: 1 << 30)
            try handle.close()
            let form: MultipartForm = [.text("t", name: "title"), .file(url, name: "upload")]
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
            defer { buffer.deallocate() }
            let before = try ProcessMemory.peak()
            let source = try form.bodySource()
            let reader = try source.open()
            var total: Int64 = 0
            while total <= 2 << 30, case let count = try reader.read(into: buffer), count > 0 { total += Int64(count) }
            #expect(total == source.length)
            #expect(total > 1 << 30)
            #expect(try ProcessMemory.peak() - before < 16 << 20)
        }
    }

    @Test("A file without read permission is an error with its path when the body is made")
    func forbidden() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let url = try folder.file("secret", Data("x".utf8))
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: url.path)
            // Root may read everything.
            if geteuid() == 0 { #expect(seteuid(65534) == 0) }
            let form: MultipartForm = [.file(url, name: "upload")]
            let error = multipartError { _ = try form.bodySource() }
            #expect(error?.filePath == url.path)
            #expect(error?.description.contains("Permission denied") == true)
            _ = seteuid(getuid())
        }
    }
}
#endif
