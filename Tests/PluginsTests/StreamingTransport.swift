// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

/// A transport whose responses are streams of one piece, which waits at a gate; then the stream ends or fails.
struct StreamingTransport: Transport {
    let gate = Gate()
    let piece = Data("0123456789".utf8)
    var failure: (any Error)?

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let sent = Tally()
        let body = ResponseBody { [gate, piece, failure] in
            guard sent.value == 0 else {
                if let failure { throw failure }
                return nil
            }
            try await gate.waitUnlessCancelled()
            sent.add()
            return piece
        }
        return TransportResponse(head: ResponseHead(statusCode: 200), body: .stream(body))
    }
}
