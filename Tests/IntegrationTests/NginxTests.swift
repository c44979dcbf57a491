// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Transfers of all sizes with nginx.
@Suite("nginx: transfers", .throttled, .needs(.nginx), .timeLimit(.minutes(3)))
struct NginxTests {
    @Test("Many calls share kept-alive connections, and each gets its own answer", arguments: Engine.allCases)
    func keepAlive(engine: Engine) async throws {
        let provider = engine.provider()
        let bodies = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let response = try? await provider.request(.nginx(.get, "/echo/\(number)")) as Response
                    return response.map { String(decoding: $0.data, as: UTF8.self).contains("/echo/\(number)\n") }
                        ?? false
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(bodies == Array(repeating: true, count: 200))
        let response = try await engine.response(to: .nginx(.get, "/"))
        #expect(response.data == Data("ok\n".utf8))
        if let metrics = response.metrics { #expect(metrics.reusedConnection) }
    }

    @Test("A large file goes up and comes down unchanged, and progress is told both ways", arguments: Engine.allCases)
    func large(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let file = NginxFile(Data())
        let source = try folder.file("up.bin", NginxFile.noise)
        let count = Int64(NginxFile.noise.count)
        let steps = Recorder<TransferProgress>()
        let path: RequestPath = "/files/\(file.name)"
        let put = try await engine.provider().finished(.nginx(.put, path, .upload(file: source)), steps)
        #expect(put.statusCode == 201)
        let target = folder.url.appendingPathComponent("down.bin")
        let get = try await engine.provider().finished(.nginx(.get, path, .download(to: target)), steps)
        #expect(get.statusCode == 200)
        #expect(try Data(contentsOf: target) == NginxFile.noise)
        for direction in [TransferProgress.Direction.upload, .download] {
            let last = steps.elements.last { $0.direction == direction }
            #expect(last?.completed == count)
            #expect(last?.total == count)
        }
        try await file.remove()
    }

    @Test("nginx reads a streamed form of many megabytes to its end", arguments: Engine.allCases)
    func largeForm(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("up.bin", NginxFile.noise)
        let form = MultipartForm(parts: [.text("Holiday", name: "album"), .file(file, name: "film")])
        let length = try #require(try form.bodySource().length)
        let response = try await engine.response(to: .nginx(.post, "/sink", .multipart(form)))
        #expect(response.statusCode == 200)
        let received = try #require(response.headers["X-Request-Length"].flatMap(Int64.init))
        #expect((length...(length + 2000)).contains(received))
    }

    @Test("A form that nginx stores is the form's own bytes", arguments: Engine.allCases)
    func storedForm(engine: Engine) async throws {
        let file = NginxFile(Data())
        let form = MultipartForm(parts: Awkward.names.map { .data(Data($0.utf8), name: $0, fileName: $0 + ".txt") })
        let path: RequestPath = "/files/\(file.name)"
        #expect(try await engine.response(to: .nginx(.put, path, .multipart(form))).statusCode == 201)
        #expect(try await engine.response(to: .nginx(.get, path)).data == form.data())
        try await file.remove()
    }

    @Test("A part of a file, compressed files and missing ones", arguments: Engine.allCases)
    func files(engine: Engine) async throws {
        let file = NginxFile(Data(String(repeating: "0123456789", count: 10_000).utf8))
        try await file.put()
        let range = ServerCall.nginx(.get, "/files/\(file.name)").with { $0.headers = ["Range": "bytes=99995-"] }
        let part = try await engine.response(to: range)
        #expect(part.statusCode == 206)
        #expect(part.data == Data("56789".utf8))
        let beyond = try await engine.response(to: range.with { $0.headers = ["Range": "bytes=100000-"] })
        #expect(beyond.statusCode == 416)
        let plain = try await engine.response(to: .nginx(.get, "/gzip/\(file.name)"))
        #expect(plain.data == file.bytes)
        if let metrics = plain.metrics { #expect(metrics.bytesReceived < 10_000) }
        let tooLarge = ServerCall.nginx(.get, "/gzip/\(file.name)", .plain.limit(bytes: 50_000))
        #expect(await engine.failure(of: tooLarge)?.kind == .tooLarge)
        try await file.remove()
        #expect(try await engine.response(to: .nginx(.get, "/files/\(file.name)")).statusCode == 404)
    }
}

extension Provider<ServerCall> {
    /// Makes one call, and writes down its progress.
    fileprivate func finished(_ call: ServerCall, _ steps: Recorder<TransferProgress>) async throws -> Response {
        try await withCheckedThrowingContinuation { continuation in
            request(call, on: DispatchQueue(label: "progress")) { step in
                steps.append(step)
            } completion: { result in
                continuation.resume(with: result)
            }
        }
    }
}
