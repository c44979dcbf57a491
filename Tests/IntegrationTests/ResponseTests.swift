// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

/// Responses of every kind, as httpbin gives them.
@Suite("httpbin: responses", .throttled, .needs(.httpbin), .timeLimit(.minutes(2)))
struct ResponseTests {
    @Test("Every status code arrives, and validation sorts them", arguments: Engine.allCases)
    func statusCodes(engine: Engine) async throws {
        let kinds: [Int: TargetKitError.Kind] = [
            400: .client, 401: .unauthorized, 403: .forbidden, 404: .notFound, 409: .conflict, 410: .notFound,
            418: .client, 429: .rateLimited, 500: .server, 503: .server, 599: .server,
        ]
        for code in [200, 201, 202, 204, 206] + kinds.keys.sorted() {
            let call = ServerCall.httpbin(.get, "/status/\(code)")
            #expect(try await engine.response(to: call).statusCode == code)
            let error = await engine.failure(of: call.with { $0.validation = .successCodes })
            #expect(error?.stage == (code < 300 ? nil : .status))
            #expect(error?.kind == kinds[code])
            #expect(error?.response?.statusCode == (code < 300 ? nil : code))
        }
    }

    @Test("304 has no body, and the tag is seen", arguments: Engine.allCases)
    func notModified(engine: Engine) async throws {
        let fresh = try await engine.response(to: .httpbin(.get, "/etag/tea"))
        #expect(fresh.statusCode == 200)
        #expect(fresh.headers["ETag"] == "tea")
        let same = try await engine.response(
            to: .httpbin(.get, "/etag/tea").with { $0.headers = ["If-None-Match": "tea"] }
        )
        #expect(same.statusCode == 304)
        #expect(same.data.isEmpty)
    }

    @Test("Compressed bodies are decoded", arguments: Engine.allCases, ["/gzip", "/deflate"])
    func compressed(engine: Engine, path: String) async throws {
        let response = try await engine.response(to: .httpbin(.get, "\(raw: path)"))
        let flag = path == "/gzip" ? "gzipped" : "deflated"
        #expect(try response.decode(Bool.self, atKeyPath: flag))
    }

    #if os(Linux)
    @Test("A body in brotli is decoded")
    func brotli() async throws {
        let response = try await Engine.curl.response(to: .httpbin(.get, "/brotli"))
        #expect(try response.decode(Bool.self, atKeyPath: "brotli"))
    }
    #endif

    @Test("Text, HTML, XML and pictures arrive as they are", arguments: Engine.allCases)
    func types(engine: Engine) async throws {
        let text = try await engine.response(to: .httpbin(.get, "/encoding/utf8"))
        #expect(String(decoding: text.data, as: UTF8.self).contains("∮ E⋅da = Q"))
        let png = try await engine.response(to: .httpbin(.get, "/image/png"))
        #expect(png.headers["Content-Type"] == "image/png")
        #expect(png.data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let show = try await engine.response(to: .httpbin(.get, "/json"))
        #expect(try show.decode(String.self, atKeyPath: "slideshow.slides.0.title") == "Wake up to WonderWidgets!")
        let error = await #expect(throws: TargetKitError.self) {
            try await engine.provider().request(.httpbin(.get, "/xml"), as: [String].self)
        }
        #expect(error?.stage == .decoding)
        #expect(error?.response?.headers["Content-Type"] == "application/xml")
    }

    @Test("A body in chunks is the same in memory and in a file", arguments: Engine.allCases)
    func chunked(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let call = ServerCall.httpbin(.get, "/stream/100")
        let memory = try await engine.response(to: call)
        #expect(memory.headers["Transfer-Encoding"] == "chunked")
        #expect(memory.data.count > 10_000)
        let file = folder.url.appendingPathComponent("bytes")
        let response = try await engine.response(to: call.with { $0.task = .download(to: file) })
        #expect(response.file == file)
        #expect(response.data.isEmpty)
        #expect(try Data(contentsOf: file) == memory.data)
        #expect(folder.names == ["bytes"])
    }

    @Test("Lines of JSON in chunks arrive whole", arguments: Engine.allCases)
    func lines(engine: Engine) async throws {
        let response = try await engine.response(to: .httpbin(.get, "/stream/25"))
        let lines = String(decoding: response.data, as: UTF8.self).split(separator: "\n")
        let ids = try lines.map { try JSONDecoder().decode([String: Field].self, from: Data($0.utf8))["id"]?.number }
        #expect(ids == Array(0..<25))
    }

    @Test("A body within its limit arrives; one beyond ends the call as too large", arguments: Engine.allCases)
    func limit(engine: Engine) async throws {
        for path in ["/bytes/5000?seed=1", "/stream-bytes/5000?seed=1"] {
            let call = ServerCall.httpbin(.get, "\(raw: path)")
            let whole = try await engine.response(to: call.with { $0.task = .plain.limit(bytes: 5000) })
            #expect(whole.data.count == 5000)
            let error = await engine.failure(of: call.with { $0.task = .plain.limit(bytes: 4999) })
            #expect(error?.stage == .transport)
            #expect(error?.kind == .tooLarge)
        }
        #expect(try await engine.response(to: .httpbin(.get, "/status/200")).statusCode == 200)
    }

    @Test("A range of a body arrives as a part", arguments: Engine.allCases)
    func range(engine: Engine) async throws {
        let call = ServerCall.httpbin(.get, "/range/1000").with { $0.headers = ["Range": "bytes=10-19"] }
        let part = try await engine.response(to: call)
        #expect(part.statusCode == 206)
        #expect(part.data == Data("klmnopqrst".utf8))
        #expect(part.headers["Content-Range"] == "bytes 10-19/1000")
    }

    /// A value of which only a number is of interest.
    private struct Field: Decodable {
        let number: Int?

        init(from decoder: any Decoder) throws {
            number = try? decoder.singleValueContainer().decode(Int.self)
        }
    }
}
