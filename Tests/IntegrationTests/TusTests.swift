// SPDX-License-Identifier: MIT
import Foundation
import _TargetKitFiles
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

/// Resumable uploads to tuspyserver.
@Suite("tus: uploads", .throttled, .needs(.tus), .timeLimit(.minutes(3)))
struct TusTests {
    private static let size = 16 << 20

    private enum Files: TargetType {
        case file(URL, ResumableUpload)
        case digest(String)
        case delete(String)

        var baseURL: URL { ServerAvailability.tus.baseURL }
        var path: RequestPath {
            switch self {
            case .file: "/files/"
            case .digest(let name): "/digest/\(name)"
            case .delete(let name): "/files/\(name)"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .file: .post
            case .digest: .get
            case .delete: .delete
            }
        }
        var task: HTTPTask {
            guard case .file(let file, let upload) = self else { return .plain }
            return .upload(file: file).resumable(upload)
        }
        var headers: HTTPHeaders {
            if case .delete = self { return ["Tus-Resumable": "1.0.0"] }
            return [:]
        }
    }

    private let folder: TemporaryFolder
    private let file: URL
    private let digest: String

    init() throws {
        folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 17)
        var data = Data(capacity: Self.size)
        while data.count < Self.size { withUnsafeBytes(of: random.next()) { data.append(contentsOf: $0) } }
        file = try folder.file("film.bin", data)
        digest = SHA256Hasher.digest(of: data).map { String(($0 >> 4), radix: 16) + String($0 & 15, radix: 16) }
            .joined()
    }

    private var upload: ResumableUpload {
        .tus.metadata(["filename": "film.bin", "filetype": "application/octet-stream"])
            .stateFolder(folder.url.appendingPathComponent("states"))
    }

    /// Retries what tuspyserver answers while it has not noticed the end of the request before.
    private func provider() -> Provider<Files> {
        let policy = RetryPolicy(attempts: 20, baseDelay: .milliseconds(50), maximumDelay: .milliseconds(200))
        return Provider(transport: SystemTransport.patient, plugins: [RetryPlugin(policy: policy, budget: .unlimited)])
    }

    private func check(_ response: Response, with provider: Provider<Files>) async throws {
        let location = try #require(response.headers["Location"].flatMap { URL(string: $0) })
        let stored = try await provider.request(.digest(location.lastPathComponent))
        #expect(String(decoding: stored.data, as: UTF8.self) == digest)
        _ = try await provider.request(.delete(location.lastPathComponent))
    }

    @Test("A file arrives identical, in one request and in parts", arguments: [nil, 1 << 20, 5_000_000])
    func whole(chunkSize: Int?) async throws {
        let provider = self.provider()
        let upload = chunkSize.map { self.upload.chunkSize($0) } ?? self.upload
        try await check(try await provider.request(.file(file, upload)), with: provider)
    }

    @Test("A file whose upload is cancelled again and again arrives identical")
    func cancelled() async throws {
        let provider = self.provider()
        var random = SeededGenerator(seed: 4)
        var begin: Int64 = 0
        for _ in 0..<10 {
            let limit = begin + Int64.random(in: 1...(3 << 20), using: &random)
            let (handle, last) = (Locked<RequestHandle?>(nil), Locked(begin))
            let call = provider.request(.file(file, upload), on: DispatchQueue(label: "test")) { step in
                guard step.direction == .upload else { return }
                last.withLock { $0 = step.completed }
                if step.completed > limit { handle.withLock(\.self)?.cancel() }
            } completion: { _ in
            }
            handle.withLock { $0 = call }
            let result = await Task { try await call.response() }.result
            guard case .failure(let error) = result else { return try await check(try result.get(), with: provider) }
            #expect((error as? TargetKitError)?.stage == .cancelled)
            begin = last.withLock(\.self)
        }
        try await check(try await provider.request(.file(file, upload)), with: provider)
    }

    @Test("An upload that is cancelled for good is deleted")
    func terminated() async throws {
        let provider = self.provider()
        let handle = Locked<RequestHandle?>(nil)
        let call = provider.request(
            .file(file, upload.chunkSize(1 << 20).terminatedOnCancel),
            on: DispatchQueue(label: "test")
        ) {
            step in
            if step.completed > 4 << 20 { handle.withLock(\.self)?.cancel() }
        } completion: { _ in
        }
        handle.withLock { $0 = call }
        _ = await Task { try await call.response() }.result
        let states = folder.url.appendingPathComponent("states")
        #expect(try FileManager.default.contentsOfDirectory(atPath: states.path).isEmpty)
    }
}
