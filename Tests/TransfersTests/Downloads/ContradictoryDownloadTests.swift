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

/// Responses whose fields contradict their status, or what is known of the file.
@Suite("Downloads: contradictory responses", .throttled, .timeLimit(.minutes(2)))
struct ContradictoryDownloadTests {
    private static let size = 3_000_000
    private static let cut = 1_200_000

    private let content = ServedFile(size: size)
    private let folder: TemporaryFolder
    private let provider = Provider<TestTarget>(transport: SystemTransport.patient)

    private var file: URL { folder.url.appendingPathComponent("file.bin") }

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.file("file.bin", Data("old".utf8))
    }

    private func target(_ server: TestServer, _ destination: DownloadDestination) -> TestTarget {
        TestTarget(server.baseURL).with {
            $0.task = .download(to: destination)
            $0.validation = .successCodes
        }
    }

    /// What a server sends, with status 200, in response to a request for a range.
    enum Rest: CaseIterable {
        case range, rangeOfUnknownLength, unreadableRange, multipart, rest, restInChunks, longer, wholeRangeTooShort

        func response(_ content: ServedFile, _ first: Int, through last: Int) -> TestServer.Response {
            let (part, size) = (content.data[first...last], ContradictoryDownloadTests.size)
            func response(_ range: String) -> TestServer.Response {
                content.response(status: 200, part, ["Content-Range": range])
            }
            switch self {
            case .range: return response("bytes \(first)-\(last)/\(size)")
            case .rangeOfUnknownLength: return response("bytes \(first)-\(last)/*")
            case .unreadableRange: return response("bytes \(first)-/\(size)")
            case .multipart:
                return content.response(status: 200, part, ["Content-Type": "multipart/byteranges; boundary=a"])
            case .rest: return content.response(status: 200, part, [:])
            case .longer: return content.response(status: 200, content.data + Data(count: 10), [:])
            case .wholeRangeTooShort: return response("bytes 0-\(size - 1)/\(size)")
            case .restInChunks:
                let head = content.validators.merging(["Transfer-Encoding": "chunked"])
                return [.head(status: 200, headers: head), .chunk(part), .endChunks]
            }
        }
    }

    @Test(
        "A range with the status of a whole file is not stored as the file",
        arguments: Rest.allCases,
        [1, 3]
    )
    func statusOfWhole(rest: Rest, segments: Int) async throws {
        let content = content
        let server = try TestServer { request in
            guard let (first, last) = request.headers["range"].flatMap(ServedFile.range) else {
                return content.response(to: request, cut: request.index == 0 && segments == 1 ? Self.cut : nil)
            }
            return rest.response(content, first, through: last ?? Self.size - 1)
        }
        let target = target(server, .file(file).segments(segments))
        for _ in 0..<3 {
            let result = try? await provider.request(target)
            // It never becomes the file without the whole content.
            #expect(try Data(contentsOf: file) == (result == nil ? Data("old".utf8) : content.data))
        }
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }

    @Test("A part that was not requested is not the file, whatever its status", arguments: [200, 203], [true, false])
    func unrequested(status: Int, isResumable: Bool) async throws {
        let ranges = [
            "bytes 0-99/200", "bytes 100-199/200", "bytes 0-99/*", "bytes 0-199/200", "bytes 0-99/99999999999999999999",
            "bytes=0-99/200", "bytes 0-99", "Bytes\t0-99/99",
        ]
        for range in ranges {
            let server = try TestServer { _ in
                TestServer.Response(
                    status: status,
                    headers: ["ETag": "\"v1\"", "Content-Range": range],
                    body: Data(count: 100)
                )
            }
            let target = target(server, isResumable ? .file(file).resumable : .file(file))
            let error = try await #require(throws: TargetKitError.self) { try await provider.request(target) }
            #expect((error.underlying as? URLError)?.code == .badServerResponse)
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            #expect(folder.names == ["file.bin"])
        }
    }

    @Test("Nor is it the content of a stream", arguments: [200, 203, 206])
    func stream(status: Int) async throws {
        let part = TestServer.Response(
            status: status,
            headers: ["Content-Range": "bytes 0-99/200"],
            body: Data(count: 100)
        )
        let server = try TestServer { _ in part }
        let target = target(server, .file(file)).with { $0.task = .plain }
        let error = try await #require(throws: TargetKitError.self) { try await provider.stream(target) }
        #expect((error.underlying as? URLError)?.code == .badServerResponse)
        let requested = target.with { $0.headers = ["Range": "bytes=0-99"] }
        let stream = try? await provider.stream(requested)
        #expect(stream?.response.statusCode == (status == 206 ? 206 : nil))
    }

    @Test(
        "A whole file may have the range of the whole file, or a range of another unit",
        arguments: ["bytes 0-99/100", "items 0-24/1000", "0-24/*"],
        [true, false]
    )
    func wholeRange(range: String, isResumable: Bool) async throws {
        let server = try TestServer { _ in
            TestServer.Response(status: 200, headers: ["Content-Range": range], body: Data(count: 100))
        }
        let target = target(server, isResumable ? .file(file).resumable : .file(file))
        #expect(try await provider.request(target).file == file)
        #expect(try Data(contentsOf: file) == Data(count: 100))
    }

    @Test(
        "A part that the target requested is stored if the body is that part",
        arguments: [
            ("bytes=0-9", "bytes 0-9/100", true), ("bytes=0-19", "bytes 5-14/100", true),
            ("bytes=10-19", "bytes 0-9/100", false), ("bytes=0-9", "bytes 0-8/100", false),
            ("bytes=0-9", "bytes 0-99/100", false), ("bytes=0-4", "bytes 0-9/100", false),
            ("lines=0-9", "lines 0-9/100", true),
        ]
    )
    func requestedPart(requested: String, received: String, isAccepted: Bool) async throws {
        let server = try TestServer { _ in
            TestServer.Response(status: 206, headers: ["Content-Range": received], body: Data(count: 10))
        }
        let target = target(server, .file(file)).with { $0.headers = ["Range": requested] }
        let result = try? await provider.request(target)
        #expect((result != nil) == isAccepted)
        #expect(try Data(contentsOf: file) == (isAccepted ? Data(count: 10) : Data("old".utf8)))
    }

    @Test("After a date, the range need not repeat it, but its length is that of the file", arguments: [true, false])
    func rangeAfterDate(isSameLength: Bool) async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let dates: HTTPHeaders = ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:49:38 GMT"]
        let content = ServedFile(size: Self.size, validators: dates)
        let server = try TestServer { request in
            guard request.index == 1 else {
                return content.response(to: request, cut: request.index == 0 ? Self.cut : nil)
            }
            let length = isSameLength ? Self.size : Self.size + 1
            return TestServer.Response(
                status: 206,
                headers: ["Content-Range": "bytes \(Self.cut)-\(Self.size - 1)/\(length)"],
                body: content.data.dropFirst(Self.cut)
            )
        }
        let target = target(server, .file(file).resumable)
        _ = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        _ = try await provider.request(target)
        #expect(server.requests[1].headers["If-Range"] == date)
        #expect(server.requestCount == (isSameLength ? 2 : 3))
        #expect(try Data(contentsOf: file).whole == content.data.whole)
    }
}
