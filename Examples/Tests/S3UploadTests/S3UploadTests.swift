// SPDX-License-Identifier: MIT
import Foundation
import S3Upload
import Synchronization
import TargetKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server that speaks S3, for example moto's.
private let s3 = ProcessInfo.processInfo.environment["TARGETKIT_S3"].flatMap { URL(string: $0) }

/// A driver with the public API only.
@Suite("S3's multipart upload", .enabled(if: s3 != nil, "TARGETKIT_S3 is not set"), .timeLimit(.minutes(2)))
struct S3UploadTests {
    private static let partSize = 5 << 20

    private struct Object: TargetType {
        let baseURL: URL
        let path: RequestPath
        var method = HTTPMethod.get
        var task = HTTPTask.plain
        var validation: StatusValidation { .successCodes }
    }

    /// Fails the first request for a part after the two others have their responses, and asks for another attempt if
    /// wanted. Without the wait, parts would arrive again while moto still answers the first time, with a 500.
    private struct Fault: Plugin {
        let part: String
        let retries: Bool
        let log = RequestLines()

        func willSend(_ request: URLRequest, context: RequestContext) {
            log.append("\(request.httpMethod ?? "") \(request.url?.query() ?? "")")
        }

        func exchange(
            _ request: TransportRequest,
            context: RequestContext,
            next: Exchange
        ) async throws -> TransportResponse {
            let isPart = request.urlRequest.url?.query()?.contains("partNumber=\(part)&") == true
            if isPart, log.count(where: { $0.contains("partNumber=\(part)&") }) == 1 {
                while log.count(where: { $0 == "part received" }) < 2 { await Task.yield() }
                throw URLError(.networkConnectionLost)
            }
            let response = try await next(request)
            if request.urlRequest.url?.query()?.contains("partNumber=") == true { log.append("part received") }
            return response
        }

        func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
            guard retries, case .failure = result, context.attempt == 0 else { return .doNotRetry }
            return .retry(after: .zero)
        }
    }

    private final class RequestLines: Sendable {
        private let lines = Mutex<[String]>([])
        func append(_ line: String) { lines.withLock { $0.append(line) } }
        func count(where matches: (String) -> Bool) -> Int { lines.withLock { $0.count(where: matches) } }
    }

    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).film")
    private let content = Data((0..<(12 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    private func object(_ name: String) throws -> Object {
        Object(baseURL: try #require(s3), path: "/\(name)-films/tea.mp4")
    }

    private func upload(_ name: String, _ plugins: [any Plugin] = []) async throws -> Provider<Object> {
        let provider = Provider<Object>(plugins: plugins)
        let bucket = Object(baseURL: try #require(s3), path: "/\(name)-films", method: .put)
        _ = try await Provider<Object>().request(bucket)
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var target = try object(name)
        target.method = .put
        target.task = .plain.driver(S3MultipartUpload(of: file, partSize: Self.partSize))
        _ = try await provider.request(target)
        return provider
    }

    @Test("A file arrives in parts, and is complete")
    func complete() async throws {
        let fault = Fault(part: "none", retries: false)
        let provider = try await upload("whole", [fault])
        #expect(try await provider.request(object("whole")).data == content)
        #expect(fault.log.count { $0.hasPrefix("PUT partNumber=") } == 3)
    }

    @Test("Another attempt sends only the parts that are missing")
    func retried() async throws {
        let fault = Fault(part: "3", retries: true)
        let provider = try await upload("again", [fault])
        #expect(try await provider.request(object("again")).data == content)
        #expect(fault.log.count { $0 == "POST uploads" } == 1)
        #expect(fault.log.count { $0.contains("partNumber=3&") } == 2)
    }

    @Test("An upload that fails is aborted")
    func aborted() async throws {
        let fault = Fault(part: "2", retries: false)
        await #expect(throws: TargetKitError.self) { _ = try await upload("failed", [fault]) }
        while fault.log.count(where: { $0.hasPrefix("DELETE uploadId=") }) == 0 { await Task.yield() }
        let error = await #expect(throws: TargetKitError.self) {
            try await Provider<Object>().request(object("failed"))
        }
        #expect(error?.kind == .notFound)
    }
}
