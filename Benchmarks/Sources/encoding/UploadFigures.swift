// SPDX-License-Identifier: MIT
import CurlMulti
import Foundation
import Loopback
import Measuring
import Synchronization
import TargetKit

/// A file of 1 GiB in a form, against the same file as it is, to a sink on loopback.
struct UploadFigures {
    private struct Upload: TargetType {
        let baseURL: URL
        let task: HTTPTask
        var path: RequestPath { "/sink" }
        var method: HTTPMethod { .post }
        var validation: StatusValidation { .successCodes }
    }

    private let file: URL
    private let sink: URL
    private let size = 1 << 30
    private let provider = Provider<Upload>(transport: CurlTransport())

    init() throws {
        guard let sink = URL(string: "http://127.0.0.1:\(loopback_start_server())") else { throw URLError(.badURL) }
        self.sink = sink
        file = FileManager.default.temporaryDirectory.appending(path: "targetkit-upload-\(getpid())")
    }

    func add(to table: Table) async throws {
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        let block = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for _ in 0..<size >> 20 { try handle.write(contentsOf: block) }
        try handle.close()

        try await addMemory(to: table)
        let race = try await Race(
            rounds: 8,
            [
                { try await send(.multipart(form)) },
                { try await send(.upload(file: file)) },
                { keep(curl_upload_file(sink.absoluteString, file.path)) },
            ]
        )
        let times = race.best.map(timeText)
        table.add("1 GiB in a form, by the raw file", times[0], times[1], rounds: race.ratios(), goal: .atMost(1.05))
        table.add("1 GiB in a form, by libcurl in C", times[0], times[2], rounds: race.ratios(0, by: 2))
    }

    /// What one upload adds to the memory of a process that has already sent a small one, and which files it opens.
    private func addMemory(to table: Table) async throws {
        try await send(.multipart([.text("warm", name: "up")]))
        let strangers = Mutex<Set<String>>([])
        let known = Set(ProcessFigures.openFiles + [file.path])
        let idle = ProcessFigures.residentBytes
        ProcessFigures.resetPeak()
        try await send(.multipart(form)) { _ in
            let opened = ProcessFigures.openFiles.filter { $0.hasPrefix("/") && !$0.hasPrefix("/proc/") }
            strangers.withLock { $0.formUnion(Set(opened).subtracting(known)) }
        }
        let growth = Double(ProcessFigures.peakBytes - idle) / 1_048_576
        let measured = String(format: "%.1f MiB", growth)
        table.add("1 GiB in a form: memory over idle, MiB", measured, figure: growth, goal: .atMost(16))
        let files = strangers.withLock { $0 }
        table.add(
            "files opened meanwhile but the file itself",
            "\(files.sorted())",
            figure: Double(files.count),
            goal: .atMost(0)
        )
    }

    private var form: MultipartForm {
        [
            .text("backup", name: "title"), .file(file, name: "file", fileName: "backup.bin"),
            .text("1", name: "version"),
        ]
    }

    private func send(_ task: HTTPTask, progress: (@Sendable (TransferProgress) -> Void)? = nil) async throws {
        let result = await withCheckedContinuation { continuation in
            provider.request(
                Upload(baseURL: sink, task: task),
                on: .global(),
                progress: progress
            ) { result in
                continuation.resume(returning: result)
            }
        }
        _ = try result.get()
    }
}
