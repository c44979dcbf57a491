// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transfer that a server must not process twice, unless it has a key.
struct Order: TargetType, Codable, Hashable {
    var number: Int
    var method: HTTPMethod = .post
    var key: String?

    init(_ number: Int, method: HTTPMethod = .post, key: String? = nil) {
        self.number = number
        self.method = method
        self.key = key
    }

    var baseURL: URL { .shop }
    var path: RequestPath { "/orders/\(number)" }
    var task: HTTPTask { method == .get ? .plain : .json(["number": number]) }
    var headers: HTTPHeaders { key.map { ["Idempotency-Key": $0] } ?? [:] }

    private enum CodingKeys: String, CodingKey { case number, verb, key }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        method = HTTPMethod(rawValue: try container.decode(String.self, forKey: .verb))
        key = try container.decodeIfPresent(String.self, forKey: .key)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(method.rawValue, forKey: .verb)
        try container.encodeIfPresent(key, forKey: .key)
    }
}

/// A server of orders without a network, whose answers the test sets.
final class OrderServer: Transport {
    enum Answer: Sendable {
        case status(Int, HTTPHeaders = [:])
        case failure(URLError.Code)
        /// Waits until the call is cancelled.
        case hang
    }

    /// The requests, as `POST 1`; after a redirect, as `GET receipt`.
    let sent = Recorder<String>()
    /// The `Authorization` of each request.
    let users = Recorder<String?>()
    private let answers = Locked<[String: [Answer]]>([:])

    /// Sets the next answers to the requests for a path; the last one is repeated.
    func answer(_ path: String, _ answers: Answer...) {
        self.answers.withLock { $0[path] = answers }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let path = request.urlRequest.url?.lastPathComponent ?? ""
        let answer = answers.withLock { answers -> Answer in
            guard let list = answers[path], let first = list.first else { return .status(200) }
            if list.count > 1 { answers[path]?.removeFirst() }
            return first
        }
        users.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
        sent.append("\(request.urlRequest.httpMethod ?? "") \(path)")
        switch answer {
        case .status(let status, let headers):
            return TransportResponse(head: ResponseHead(statusCode: status, headers: headers), body: .data(Data()))
        case .failure(let code): throw URLError(code)
        case .hang:
            try await Task.sleep(for: .seconds(600))
            throw URLError(.timedOut)
        }
    }

    func count(of request: String) -> Int { sent.elements.count { $0 == request } }
}
