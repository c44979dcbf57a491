// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What servers do with the request for the rest.
extension ResumeTests {
    /// What a server does with the request for the rest.
    enum Behavior: String, CaseIterable, Sendable {
        case whole, wholeOfNewVersion, range, rangeWithUnknownLength
        case rangeFromStart, laterRange, earlierRange, newTag, weakTag, noTag, twoTags, longer, shorter
        case noContentRange, unreadableContentRange, twoContentRanges, otherUnit, reversedRange
        case multipart, gzip, otherContentLength, unsatisfiable, unsatisfiableOfSameLength, unsatisfiableWithoutLength
        case otherSource, partOfRange

        /// Whether the response is used, so that no third request is made.
        var isUsed: Bool {
            switch self {
            case .whole, .wholeOfNewVersion, .range, .rangeWithUnknownLength: true
            default: false
            }
        }
    }

    private static func response(
        _ behavior: Behavior,
        _ old: ServedFile,
        _ new: ServedFile,
        _ request: TestServer.Request
    ) -> TestServer.Response {
        let (first, count) = (cut, size)
        let rest = new.data.dropFirst(first)
        func partial(_ range: String, _ fields: HTTPHeaders = [:], body: Data? = nil) -> TestServer.Response {
            old.response(status: 206, body ?? rest, HTTPHeaders(["Content-Range": range]).merging(fields))
        }
        let right = "bytes \(first)-\(count - 1)/\(count)"
        switch behavior {
        case .whole: return old.response(status: 200, old.data, [:])
        case .wholeOfNewVersion: return new.response(status: 200, new.data, [:])
        case .range: return old.response(to: request)
        case .rangeWithUnknownLength:
            return old.response(
                status: 206,
                old.data.dropFirst(first),
                ["Content-Range": "bytes \(first)-\(count - 1)/*"]
            )
        case .rangeFromStart: return partial("bytes 0-\(count - 1)/\(count)", body: new.data)
        case .laterRange: return partial("bytes \(first + 1)-\(count - 1)/\(count)", body: rest.dropFirst())
        case .earlierRange:
            return partial("bytes \(first - 1)-\(count - 1)/\(count)", body: new.data.dropFirst(first - 1))
        case .newTag: return new.response(status: 206, rest, ["Content-Range": right])
        case .weakTag: return partial(right, ["ETag": "W/\"v1\""])
        case .noTag: return TestServer.Response(status: 206, headers: ["Content-Range": right], body: rest)
        case .twoTags:
            return TestServer.Response(
                status: 206,
                headers: ["Content-Range": right, "ETag": "\"v1\"", "ETag": "\"v2\""],
                body: rest
            )
        case .longer: return partial("bytes \(first)-\(count)/\(count + 1)", body: rest + Data([1]))
        case .shorter: return partial("bytes \(first)-\(count - 2)/\(count - 1)", body: rest.dropLast())
        case .noContentRange: return old.response(status: 206, rest, [:])
        case .unreadableContentRange: return partial("bytes \(first)-/\(count)")
        case .twoContentRanges:
            return old.response(status: 206, rest, ["Content-Range": right, "Content-Range": "bytes 0-1/2"])
        case .otherUnit: return partial("lines \(first)-\(count - 1)/\(count)")
        case .reversedRange: return partial("bytes \(count - 1)-\(first)/\(count)")
        case .multipart:
            return old.response(status: 206, rest, ["Content-Type": "multipart/byteranges; boundary=b"])
        case .gzip: return partial(right, ["Content-Encoding": "br"])
        case .otherContentLength: return partial(right, body: rest.dropLast(7))
        case .unsatisfiable: return old.response(status: 416, Data(), ["Content-Range": "bytes */\(first - 1)"])
        case .unsatisfiableOfSameLength: return old.response(status: 416, Data(), ["Content-Range": "bytes */\(first)"])
        case .unsatisfiableWithoutLength: return old.response(status: 416, Data("no".utf8), [:])
        case .otherSource: return request.path == "/moved" ? partial(right) : .redirect(to: "/moved")
        case .partOfRange:
            return request.index > 1
                ? old.response(to: request)
                : old.response(
                    status: 206,
                    old.data[first..<first + 1000],
                    ["Content-Range": "bytes \(first)-\(first + 999)/\(count)"]
                )
        }
    }

    @Test("No response to a range leads to a file of two versions", arguments: Behavior.allCases)
    func behaviors(behavior: Behavior) async throws {
        let (old, new) = (ServedFile(size: Self.size), ServedFile(size: Self.size, seed: 2))
        let server = try server(old) { request in
            let isFirst = request.headers["range"] != nil || request.index == 1
            return isFirst ? Self.response(behavior, old, new, request) : new.response(to: request)
        }
        try await fail(provider, server)
        let response = try await provider.request(target(server))
        let content = try Data(contentsOf: file)
        let keepsOld = [.whole, .range, .rangeWithUnknownLength, .partOfRange].contains(behavior)
        #expect(content == (keepsOld ? old.data : new.data))
        #expect(response.statusCode == 200)
        #expect(folder.names == ["file.bin"])
        let extra = behavior == .otherSource ? 2 : 1
        #expect(server.requestCount == (behavior.isUsed ? 2 : 2 + extra))
        let last = try #require(server.requests.last).headers["Range"]
        switch behavior {
        case .partOfRange: #expect(last == "bytes=\(Self.cut + 1000)-")
        default: #expect((last == nil) == !behavior.isUsed)
        }
    }

    @Test("A status without a part of the file keeps what is there", arguments: [304, 401, 404, 412, 500, 503])
    func refused(status: Int) async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { request in
            request.index == 1
                ? TestServer.Response(status: status, body: Data((status == 304 ? "" : "why").utf8))
                : content.response(to: request)
        }
        try await fail(provider, server)
        let error = try await #require(throws: TargetKitError.self) { try await provider.request(target(server)) }
        #expect(error.response?.statusCode == status)
        #expect(error.response?.data == Data((status == 304 ? "" : "why").utf8))
        _ = try await provider.request(target(server))
        #expect(server.requests[2].headers["Range"] == "bytes=\(Self.cut)-")
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A rest that is cut again, or longer than announced, keeps what was there before", arguments: [true, false])
    func wrongLength(isLonger: Bool) async throws {
        let content = ServedFile(size: Self.size)
        let server = try server(content) { request in
            guard request.index == 1 else { return content.response(to: request) }
            if !isLonger { return content.response(to: request, cut: 10_000) }
            let range = "bytes \(Self.cut)-\(Self.size - 1)/\(Self.size)"
            return [
                .head(
                    status: 206,
                    headers: content.validators.merging(["Content-Range": range, "Transfer-Encoding": "chunked"])
                ),
                .chunk(content.data.dropFirst(Self.cut) + Data("more".utf8)), .endChunks,
            ]
        }
        try await fail(provider, server)
        try await fail(provider, server)
        _ = try await provider.request(target(server))
        #expect(server.requests[2].headers["Range"] == "bytes=\(isLonger ? Self.cut : Self.cut + 10_000)-")
        #expect(try Data(contentsOf: file).whole == content.data.whole)
        #expect(folder.names == ["file.bin"])
    }
}
