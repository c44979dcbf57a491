// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// nginx with the configuration of the benchmarks, for as long as the report runs; the address in `TARGETKIT_NGINX`
/// takes its place.
struct BenchmarkServer {
    private let process: Process?
    private let folder: URL?

    /// Starts the server; `nil` without nginx.
    static func start() -> BenchmarkServer? {
        if ProcessInfo.processInfo.environment["TARGETKIT_NGINX"] != nil {
            return BenchmarkServer(process: nil, folder: nil)
        }
        guard let program = executable("nginx", in: ["/usr/sbin"]) else { return nil }
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-report-\(getpid())")
        let process = Process()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            // What is downloaded. It takes no space on the disk.
            let body = folder.appending(path: "1GB")
            try Data().write(to: body)
            let file = try FileHandle(forWritingTo: body)
            try file.truncate(atOffset: 1_000_000_000)
            try file.close()
            process.executableURL = program
            let configuration = BenchmarkProgram.packageFolder.appending(path: "nginx.conf").path
            process.arguments = ["-p", folder.path, "-c", configuration]
            process.standardError = FileHandle.nullDevice
            try process.run()
        } catch {
            print("can't start nginx: \(error)")
            return nil
        }
        return BenchmarkServer(process: process, folder: folder)
    }

    func stop() {
        process?.terminate()
        process?.waitUntilExit()
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }
}
