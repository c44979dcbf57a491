// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension TransportConformance {
    static let reporting: [TransportPromise] = [
        TransportPromise("Progress of a download ends with all its bytes, before the call returns") { transport in
            for size in [0, 1, 5 << 20] {
                let server = try LoopbackServer(reply: LoopbackReply(body: noise(size)))
                let reports = Recorder<TransferProgress>()
                try await TestCall(progress: { reports.append($0) }).send(to: server, with: transport)
                try expectRise(reports.elements, .download, to: Int64(size))
            }
        },
        TransportPromise("Progress of a body in chunks ends with all its bytes") { transport in
            let server = try LoopbackServer(reply: [
                .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .chunk(noise(700)), .wait(.zero),
                .chunk(noise(300)), .endChunks,
            ])
            let reports = Recorder<TransferProgress>()
            try await TestCall(progress: { reports.append($0) }).send(to: server, with: transport)
            try expectRise(reports.elements, .download, to: 1_000)
        },
        TransportPromise("Progress of an upload ends with all its bytes, before the call returns") { transport in
            let bytes = noise(5 << 20)
            let file = try ConformanceFile(bytes)
            let source = ConformanceSource(bytes: bytes, length: Int64(bytes.count))
            for body in [TransportRequest.Body.data(bytes), .file(file.url), .stream(source)] {
                let server = try LoopbackServer(reply: .status(200))
                let reports = Recorder<TransferProgress>()
                let call = TestCall(method: "PUT", body: body, progress: { reports.append($0) })
                try await call.send(to: server, with: transport)
                try expectRise(reports.elements, .upload, to: Int64(bytes.count))
            }
        },
        TransportPromise("Progress comes before the end of a long download") { transport in
            let seen = Gate()
            let server = try LoopbackServer(reply: [
                .head(status: 200, headers: ["Content-Length": "2000"]), .body(noise(1_000)), .pause(until: seen),
                .body(noise(1_000)),
            ])
            let progress = { @Sendable (progress: TransferProgress) in
                if progress.direction == .download, progress.completed > 0 { seen.open() }
            }
            let response = try await TestCall(progress: progress).send(to: server, with: transport)
            try expect("the bytes", response.bytes.count, is: 2_000)
        },
        TransportPromise("Another call can be made from a progress report") { transport in
            let server = try LoopbackServer(reply: LoopbackReply(body: noise(1_000)))
            let inner = TestLock<Task<TransportResponse, any Error>?>(nil)
            let progress = { @Sendable (_: TransferProgress) in
                inner.withLock { task in
                    task = task ?? Task { try await TestCall().send(to: server, with: transport) }
                }
            }
            try await TestCall(progress: progress).send(to: server, with: transport)
            let response = try await inner.withLock { $0 }?.value
            try expect("the bytes of the other call", response?.bytes.count, is: 1_000)
        },
    ]

    static func expectRise(
        _ reports: [TransferProgress],
        _ direction: TransferProgress.Direction,
        to total: Int64
    ) throws {
        let reports = reports.filter { $0.direction == direction }
        let counts = reports.map(\.completed)
        try expect("the last report", counts.last, is: total)
        try expect("the last report's total", reports.last?.total, is: total)
        try expect(counts == counts.sorted(), "the reports go back: \(counts)")
        try expect(reports.allSatisfy { $0.completed <= $0.total ?? .max }, "a report is over its total: \(reports)")
    }
}
