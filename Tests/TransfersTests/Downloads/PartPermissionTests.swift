// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit
import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The permissions of files under a mask that removes none. The mask is the process's, so no other test runs beside.
@Suite("Downloads: permissions", .alone, .timeLimit(.minutes(2)))
struct PartPermissionTests {
    private let folder: TemporaryFolder
    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func withoutMask(_ work: () async throws -> Void) async throws {
        let mask = umask(0)
        defer { umask(mask) }
        try await work()
    }

    /// The permissions of the hidden files.
    private var hidden: [mode_t?] {
        folder.names.filter { $0.hasPrefix(".") }.map { folder.url.appendingPathComponent($0).mode }
    }

    @Test("An incomplete file is its user's alone, and the complete one has the usual permissions", arguments: [1, 3])
    func resumable(segments: Int) async throws {
        let content = ServedFile(size: 300_000)
        let isCut = Locked(true)
        let server = try TestServer { content.response(to: $0, cut: isCut.withLock(\.self) ? 20_000 : nil) }
        let provider = Provider<TestTarget>(transport: SystemTransport.patient)
        let target = TestTarget(server.baseURL).with {
            $0.task = .download(to: segments == 1 ? .file(file).resumable : .file(file).segments(segments))
            $0.validation = .successCodes
        }
        try await withoutMask {
            await #expect(throws: TargetKitError.self) { try await provider.request(target) }
            #expect(!hidden.isEmpty)
            #expect(hidden.allSatisfy { $0 == 0o600 })
            isCut.withLock { $0 = false }
            _ = try await provider.request(target)
            #expect(file.mode == 0o666)
            #expect(folder.names == ["file.bin"])
        }
    }

    @Test("A file that replaces another is its user's alone until it is moved", arguments: [nil, 0o644] as [mode_t?])
    func temporaryName(old: mode_t?) async throws {
        if let old {
            try Data("old".utf8).write(to: file)
            chmod(file.path, old)
        }
        let server = try TestServer(response: .text("new"))
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: file) }
        let transport = Watching(inner: SystemTransport.patient)
        try await withoutMask {
            _ = try await Provider<TestTarget>(transport: transport).request(target)
            #expect(transport.modes.elements == [0o600])
            #expect(file.mode == old ?? 0o666)
        }
    }

    /// Notes the permissions of the file that the transport has written, before the provider moves it.
    private struct Watching: Transport {
        let inner: any Transport
        let modes = Recorder<mode_t?>()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let response = try await inner.send(request)
            if case .file(let file) = request.destination { modes.append(file.mode) }
            return response
        }
    }

    @Test("A complete download has the usual permissions", arguments: [0, 0o022, 0o077] as [mode_t])
    func whole(mask: mode_t) async throws {
        let server = try TestServer(response: .status(200))
        let target = TestTarget(server.baseURL).with { $0.task = .download(to: .folder(folder.url)) }
        let old = umask(mask)
        defer { umask(old) }
        let response = try await Provider<TestTarget>(transport: SystemTransport.patient).request(target)
        #expect(response.file?.mode == 0o666 & ~mask)
    }
}

extension URL {
    fileprivate var mode: mode_t? { FileStatus(of: self)?.permissions }
}
