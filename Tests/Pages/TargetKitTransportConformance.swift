// SPDX-License-Identifier: MIT
import TargetKit

nonisolated struct MyTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse { throw CancellationError() }
}
