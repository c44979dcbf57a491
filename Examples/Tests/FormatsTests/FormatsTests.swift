// SPDX-License-Identifier: MIT
import FlyingFox
import Formats
import Foundation
import SwiftProtobuf
import TargetKit
import Testing

/// Bodies of two formats, sent to a real server and decoded within the call.
@Suite("Formats other than JSON", .timeLimit(.minutes(1)))
struct FormatsTests {
    private struct Order: Codable, Sendable, Equatable {
        var product: String
        var count: Int
        var date: Date
    }

    private enum Shop: TargetType {
        case xml(Order)
        case protobuf(Google_Protobuf_Struct)
        case broken

        var baseURL: URL { URL(string: "http://127.0.0.1") ?? URL(filePath: "/") }
        var path: RequestPath { "/echo" }
        var method: TargetKit.HTTPMethod { .post }
        var task: HTTPTask {
            switch self {
            case .xml(let order): .encoded(order, by: XMLBodyEncoder(rootKey: "order"))
            case .protobuf(let message): .protobuf(message)
            case .broken: .data(Data([0xFF, 0xFF]), contentType: "application/x-protobuf")
            }
        }
    }

    /// Calls a server that returns each body with its type.
    private func withProvider(_ body: (Provider<Shop>) async throws -> Void) async throws {
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0))
        await server.appendRoute("POST /echo") { request in
            let type = request.headers[.contentType] ?? ""
            return HTTPResponse(statusCode: .ok, headers: [.contentType: type], body: try await request.bodyData)
        }
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port) = await server.listeningAddress else {
            Issue.record("the server isn't listening")
            return
        }
        let base = try #require(URL(string: "http://127.0.0.1:\(port)"))
        try await body(
            Provider<Shop>(endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                endpoint.url = base.appending(path: "echo")
                return endpoint
            })
        )
    }

    @Test("An XML document goes to the server and back, with its type")
    func xml() async throws {
        let order = Order(product: "tea & <milk>", count: 2, date: Date(timeIntervalSince1970: 1_700_000_000))
        try await withProvider { provider in
            let (sent, response) = try await provider.request(
                .xml(order),
                decoding: BodyDecoding.decodable(Order.self).withResponse,
                options: .setting(\.decoder, XMLBodyDecoder())
            )
            #expect(sent == order)
            #expect(response.headers[.contentType] == "application/xml")
            #expect(try response.string().contains("<product>tea &amp; &lt;milk&gt;</product>"))
        }
    }

    @Test("A protobuf message goes to the server and back")
    func protobuf() async throws {
        let message: Google_Protobuf_Struct = ["product": "tea", "count": 2, "gift": true]
        try await withProvider { provider in
            let (sent, response) = try await provider.request(
                .protobuf(message),
                decoding: BodyDecoding<Google_Protobuf_Struct>.protobuf.withResponse
            )
            #expect(sent == message)
            #expect(response.headers[.contentType] == "application/x-protobuf")
        }
    }

    @Test("Bytes that aren't a message are an error of the call, with the response")
    func notAMessage() async throws {
        try await withProvider { provider in
            let error = await #expect(throws: TargetKitError.self) {
                try await provider.request(.broken, decoding: BodyDecoding<Google_Protobuf_Struct>.protobuf)
            }
            #expect(error?.stage == .decoding)
            #expect(error?.response?.data == Data([0xFF, 0xFF]))
            #expect(error?.underlying is SwiftProtobufError || error?.underlying is BinaryDecodingError)
        }
    }
}
