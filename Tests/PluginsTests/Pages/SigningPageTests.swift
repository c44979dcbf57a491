// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Page: Signing", .throttled, .timeLimit(.minutes(2)))
struct SigningPageTests {
    enum Bank: RoutedTarget {
        case balance
        case transfer(Int)

        var baseURL: URL { .shop }

        var route: Route {
            switch self {
            case .balance: .get("/balance")
            case .transfer(let amount): .post("/transfers", .json(["amount": amount]))
            }
        }
    }

    /// Stands for the HMAC of a cryptography library.
    private struct Signature {
        private var sum: UInt64

        init(key: UInt64) {
            sum = key
        }

        mutating func update(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { sum = (sum ^ UInt64(byte)) &* 1_099_511_628_211 }
        }

        mutating func update(_ text: String) {
            update(text.utf8)
        }

        var text: String { String(sum, radix: 16) }
    }

    @Test("The server's time goes into the signature of a request with a body")
    func signing() async throws {
        let server = Date(timeIntervalSince1970: 784_111_777)
        let sample = SampleResponse.response(
            status: 200,
            headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT"],
            data: Data()
        )
        let requests = Recorder<URLRequest>()
        let transport = StubTransport { request in
            requests.append(request.urlRequest)
            return sample
        }
        let key: UInt64 = 7
        let clock = ServerClockPlugin()
        do {
            let provider = Provider<Bank>(transport: transport, plugins: [clock])
            _ = try await provider.request(.balance)
            let date = clock.now
            #expect(abs(date.timeIntervalSince(server)) < 60)
        }
        let signing = RequestSigningPlugin(fields: ["X-Date", "X-Signature"]) { request, _ in
            let date = "\(Int(clock.now.timeIntervalSince1970))"
            var signature = Signature(key: key)
            signature.update("\(request.method.rawValue)\n\(request.url.absoluteString)\n\(date)\n")
            try request.readBody { piece in signature.update(piece) }
            return ["X-Date": date, "X-Signature": signature.text]
        }
        let provider = Provider<Bank>(transport: transport, plugins: [signing, clock])
        _ = try await provider.request(.transfer(12))
        let sent = try #require(requests.elements.last)
        let date = try #require(sent.value(forHTTPHeaderField: "X-Date"))
        var expected = Signature(key: key)
        expected.update("POST\nhttps://shop.example/api/transfers\n\(date)\n{\"amount\":12}")
        #expect(sent.value(forHTTPHeaderField: "X-Signature") == expected.text)
    }
}
