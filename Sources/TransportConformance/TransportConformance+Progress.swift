// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let reporting: [TransportRequirement] = [
        TransportRequirement(
            "reportsDownloadProgress",
            description: "The progress of a download reaches its size before the call returns"
        ) { transport in
            for size in [0, 1, 5 << 20] {
                let server = try TestServer(response: TestServer.Response(body: noise(size)))
                let reports = Recorder<TransferProgress>()
                try await TestCall(progress: { reports.append($0) }).send(to: server, with: transport)
                try expectRise(reports.elements, direction: .download, to: Int64(size))
            }
        },
        TransportRequirement("reportsChunkedProgress", description: "The progress of a chunked body reaches its size") {
            transport in
            let server = try TestServer(response: [
                .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .chunk(noise(700)), .wait(for: .zero),
                .chunk(noise(300)), .endChunks,
            ])
            let reports = Recorder<TransferProgress>()
            try await TestCall(progress: { reports.append($0) }).send(to: server, with: transport)
            try expectRise(reports.elements, direction: .download, to: 1_000)
        },
        TransportRequirement(
            "reportsUploadProgress",
            description: "The progress of an upload reaches its size before the call returns"
        ) { transport in
            let bytes = noise(5 << 20)
            let file = try ConformanceFile(bytes)
            let source = ConformanceSource(bytes: bytes, length: Int64(bytes.count))
            for body in [TransportRequest.Body.data(bytes), .file(file.url), .stream(source)] {
                let server = try TestServer(response: .status(200))
                let reports = Recorder<TransferProgress>()
                let call = TestCall(method: "PUT", body: body, progress: { reports.append($0) })
                try await call.send(to: server, with: transport)
                try expectRise(reports.elements, direction: .upload, to: Int64(bytes.count))
            }
        },
        TransportRequirement(
            "reportsProgressEarly",
            description: "Progress is reported before the end of a long download"
        ) {
            transport in
            let seen = Gate()
            let server = try TestServer(response: [
                .head(status: 200, headers: ["Content-Length": "2000"]), .body(noise(1_000)), .pause(until: seen),
                .body(noise(1_000)),
            ])
            let progress = { @Sendable (progress: TransferProgress) in
                if progress.direction == .download, progress.completed > 0 { seen.open() }
            }
            let response = try await TestCall(progress: progress).send(to: server, with: transport)
            try expect("the number of bytes", value: response.bytes.count, is: 2_000)
        },
        TransportRequirement("allowsCallsInProgress", description: "A progress closure can make another call") {
            transport in
            let server = try TestServer(response: TestServer.Response(body: noise(1_000)))
            let inner = Locked<Task<TransportResponse, any Error>?>(nil)
            let progress = { @Sendable (_: TransferProgress) in
                inner.withLock { task in
                    task = task ?? Task { try await TestCall().send(to: server, with: transport) }
                }
            }
            try await TestCall(progress: progress).send(to: server, with: transport)
            let response = try await inner.withLock { $0 }?.value
            try expect("the number of bytes of the other call", value: response?.bytes.count, is: 1_000)
        },
        TransportRequirement(
            "reportsUploadBeforeResponse",
            description: "The progress of an upload reaches its size before the response arrives"
        ) {
            transport in
            for size in [1, 10_000, 300_000] {
                let bytes = noise(size)
                let file = try ConformanceFile(bytes)
                let source = ConformanceSource(bytes: bytes, length: Int64(size))
                for body in [TransportRequest.Body.data(bytes), .file(file.url), .stream(source)] {
                    try await expectUpload(body, of: Int64(size), isReportedBeforeTheAnswerTo: transport)
                }
            }
        },
        TransportRequirement(
            "reportsUploadBeforeDownload",
            description: "The progress of an upload ends before the progress of the download begins"
        ) { transport in
            for (sent, received) in [(1, 1), (1_000, 300_000), (300_000, 0)] {
                let file = try ConformanceFile(noise(sent))
                let source = ConformanceSource(bytes: noise(sent), length: Int64(sent))
                for body in [TransportRequest.Body.data(noise(sent)), .file(file.url), .stream(source)] {
                    let server = try TestServer(response: TestServer.Response(body: noise(received)))
                    let reports = Recorder<TransferProgress>()
                    let call = TestCall(method: "PUT", body: body, progress: { reports.append($0) })
                    try await call.send(to: server, with: transport)
                    try expectRise(reports.elements, direction: .upload, to: Int64(sent))
                    try expectRise(reports.elements, direction: .download, to: Int64(received))
                    let directions = reports.elements.map(\.direction)
                    try expect(
                        !directions.drop { $0 == .upload }.contains(.upload),
                        text: "an upload is reported after a download: \(reports.elements)"
                    )
                }
            }
        },
        TransportRequirement(
            "reportsPartialUpload",
            description: "After an early response the progress of an upload doesn't reach its size"
        ) { transport in
            // More than the server's buffer and the client's, which Linux limits to 4 MiB, hold.
            let size: Int64 = 16 << 20
            var options = TestServer.Options()
            options.bufferSize = 64 << 10
            // It stops first: while it responds, it would discard what arrives.
            let reply = TestServer.Response(steps: [.stopReading] + TestServer.Response.status(413).steps + [.hang])
            options.onHead = { _ in .response(reply) }
            let server = try TestServer(options: options, response: .hang)
            let reports = Recorder<TransferProgress>()
            let body = TransportRequest.Body.data(Data(count: Int(size)))
            let call = TestCall(method: "PUT", body: body, progress: { reports.append($0) })
            try expect("the status", value: try await call.send(to: server, with: transport).head.statusCode, is: 413)
            let last = reports.elements.last { $0.direction == .upload }
            let isPlausible = last.map { $0.completed < size && $0.total == size } ?? true
            try expect(isPlausible, text: "the last report is \(last as Any)")
        },
    ]

    /// Delays the response until the progress has been reported.
    private static func expectUpload(
        _ body: TransportRequest.Body,
        of size: Int64,
        isReportedBeforeTheAnswerTo transport: any Transport
    ) async throws {
        let (gate, seen) = (Gate(), Gate())
        let server = try TestServer(
            response: TestServer.Response(steps: [.pause(until: gate)] + TestServer.Response.status(200).steps)
        )
        let progress = { @Sendable (progress: TransferProgress) in
            if progress.direction == .upload, progress.completed == size, progress.total == size { seen.open() }
        }
        let call = Task {
            try await TestCall(method: "PUT", body: body, progress: progress).send(to: server, with: transport)
        }
        defer { gate.open() }
        try await Deadline.run(.seconds(20)) { await seen.wait() }
        gate.open()
        _ = try await call.value
    }

    static func expectRise(
        _ reports: [TransferProgress],
        direction: TransferProgress.Direction,
        to total: Int64
    ) throws {
        let reports = reports.filter { $0.direction == direction }
        let counts = reports.map(\.completed)
        try expect("the last report", value: counts.last, is: total)
        try expect("the last report's total", value: reports.last?.total, is: total)
        try expect(counts == counts.sorted(), text: "the reports decrease: \(counts)")
        try expect(
            reports.allSatisfy { $0.completed <= $0.total ?? .max },
            text: "a report exceeds its total: \(reports)"
        )
    }
}
