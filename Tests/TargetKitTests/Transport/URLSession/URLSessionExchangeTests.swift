// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSession exchange", .throttled)
struct URLSessionExchangeTests {
    private func exchange(_ request: TransportRequest) throws -> URLSessionExchange {
        let call = try URLSessionCall(request, idleTimeout: 60, streaming: .system)
        return URLSessionExchange(call, queue: DispatchQueue(label: "test"), streaming: .system)
    }

    @Test("Appending to a body in memory does not copy it for each piece")
    func copies() throws {
        let exchange = try exchange(TransportRequest(urlRequest: URLRequest(url: .example)))
        var moves = 0
        var place: UInt?
        for _ in 0..<400 {
            exchange.receive(Data(count: 64 << 10))
            let next = exchange.state.withLock { state -> UInt? in
                guard case .data(let data)? = try? state.bodyWriter?.finish() else { return nil }
                return data.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            }
            if next != place { moves += 1 }
            place = next
        }
        // Doubling the capacity moves them about ten times; a copy for each piece, four hundred times.
        #expect(moves < 40)
    }
}
