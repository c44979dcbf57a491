// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

/// A transport whose responses are streams of one piece, which waits at a gate; then the stream ends or fails.
package struct StreamingTransport: Transport {
    package let gate = Gate()
    package let piece = Data("0123456789".utf8)
    package var failure: (any Error)?

    package init(failure: (any Error)? = nil) {
        self.failure = failure
    }

    package func send(_ request: TransportRequest) async throws -> TransportResponse {
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
