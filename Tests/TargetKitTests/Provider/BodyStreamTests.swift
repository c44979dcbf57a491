// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A stream in the place of a request's body can be read only once, and no transport sends it.
@Suite("Streams as bodies", .throttled, .timeLimit(.minutes(2)))
struct BodyStreamTests {
    private static func streaming(_ request: URLRequest) -> URLRequest {
        var request = request
        request.httpBodyStream = InputStream(data: Data("lost".utf8))
        return request
    }

    @Test(
        "A stream that a plugin or the request closure sets ends the call, and nothing is sent",
        arguments: [true, false],
        [HTTPTask.plain, .data(Data("mine".utf8))]
    )
    func refused(byPlugin: Bool, task: HTTPTask) async throws {
        let running = try RunningBackend(.stub)
        let plugin = RecordingPlugin(prepare: { request, _ in Self.streaming(request) })
        let closure: @Sendable (Endpoint) async throws -> URLRequest = { Self.streaming(try $0.urlRequest()) }
        let provider = Provider<TestTarget>(
            requestClosure: byPlugin ? nil : closure,
            transport: running.transport,
            plugins: byPlugin ? [plugin] : []
        )
        let target = TestTarget(running.baseURL).with {
            $0.method = .post
            $0.task = task
        }
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(target) }
        #expect(error?.stage == .request)
        #expect(error?.kind == .invalidRequest)
        #expect(error?.underlying as? InvalidRequest == .bodyStream)
        for word in ["httpBodyStream", "closure or plugin", "httpBody,", "HTTPTask"] {
            #expect(error?.description.contains(word) == true)
        }
        #expect(running.requests.isEmpty)
    }
}
