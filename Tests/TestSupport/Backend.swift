// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What answers the calls of a test: a stub, or a transport with a server. A test with this parameter runs with each.
public enum Backend: String, Sendable, CaseIterable {
    /// ``StubTransport``.
    case stub
    /// The system's transport, with a ``TestServer``.
    case system
    /// `URLSessionTransport`, with a ``TestServer``.
    case urlSession
}

/// A request as it was received.
public struct ReceivedRequest: Sendable {
    /// The method.
    public var method: String
    /// The path and query, as they were sent.
    public var target: String
    /// The header fields.
    public var headers: HTTPHeaders
    /// The body.
    public var body: Data

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
}

/// A running ``Backend``: a transport for a provider, and the requests that arrived.
public final class RunningBackend: Sendable {
    /// The base URL for the targets of the test.
    public let baseURL: URL
    /// The transport for the providers of the test.
    public let transport: any Transport
    private let received: Recorder<ReceivedRequest>
    private let server: TestServer?

    /// The requests that have arrived, in order.
    public var requests: [ReceivedRequest] { received.elements }

    /// Waits for a number of requests.
    public func waitForRequests(_ count: Int) async -> [ReceivedRequest] {
        await received.waitForCount(count)
    }

    /// Starts the backend.
    ///
    /// - Parameter answer: Returns the response to a request. For a failure, the connection is reset.
    public init(
        _ backend: Backend,
        answer: @escaping @Sendable (ReceivedRequest) async throws -> SampleResponse = { _ in
            .response(status: 200, data: Data("{}".utf8))
        }
    ) throws {
        let received = Recorder<ReceivedRequest>()
        self.received = received
        guard backend != .stub else {
            baseURL = URL(string: "http://stub.example") ?? URL(fileURLWithPath: "/")
            server = nil
            transport = StubTransport { request in
                let request = ReceivedRequest(request)
                received.append(request)
                return try await answer(request)
            }
            return
        }
        let server = try TestServer { request in
            let request = ReceivedRequest(request)
            received.append(request)
            return TestServer.Response(try? await answer(request))
        }
        self.server = server
        baseURL = server.baseURL
        transport = backend == .system ? SystemTransport.patient : URLSessionTransport.patient
    }
}

extension ReceivedRequest {
    fileprivate init(_ request: TestServer.Request) {
        self.init(
            method: request.method.rawValue,
            target: request.target,
            headers: request.headers,
            body: request.body
        )
    }

    fileprivate init(_ request: TransportRequest) {
        let url = request.urlRequest.url
        let path = url?.path(percentEncoded: true) ?? ""
        self.init(
            method: request.urlRequest.httpMethod ?? "GET",
            target: (path.isEmpty ? "/" : path) + (url?.query(percentEncoded: true).map { "?" + $0 } ?? ""),
            headers: HTTPHeaders(request.urlRequest.allHTTPHeaderFields ?? [:]),
            body: (try? request.body.bytes()) ?? Data()
        )
    }
}

extension TestServer.Response {
    fileprivate init(_ sample: SampleResponse?) {
        guard case .response(let status, let headers, let data) = sample else {
            self = .reset
            return
        }
        self.init(status: status, headers: headers, body: data)
    }
}
