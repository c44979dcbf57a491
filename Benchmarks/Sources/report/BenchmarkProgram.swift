// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The reason why a benchmark gave no figures.
struct ReportError: Error, CustomStringConvertible {
    let description: String
}

/// A run of a benchmark.
struct BenchmarkRun {
    /// What it measured.
    let records: [FigureRecord]
    /// Why that isn't all; `nil` if it is.
    let failure: String?
}

/// A benchmark that the report runs, in a process of its own.
struct BenchmarkProgram {
    static let all = [
        BenchmarkProgram("Counts per request", "counts", isRepeated: false),
        BenchmarkProgram("Encoding", "encoding"),
        BenchmarkProgram("Responses", "responses"),
        BenchmarkProgram("Calls without a network", "calls"),
        BenchmarkProgram("A cached response", "calls", ["cache"]),
        BenchmarkProgram("Calls over the network", "network", server: .plain),
        BenchmarkProgram("Calls over TLS", "network", ["tls"], server: .tls),
        BenchmarkProgram("Calls cancelled", "network", ["cancel"]),
        BenchmarkProgram("The first call of a process", "network", ["start"], server: .plain),
        BenchmarkProgram("WebSockets", "websocket"),
        BenchmarkProgram("Encoding, by size", "encoding", ["sizes"], isRepeated: false),
        BenchmarkProgram("Responses, by size", "responses", ["sizes"], isRepeated: false),
        BenchmarkProgram("Cost of a build", script: "size.sh"),
    ]

    let title: String
    let isRepeated: Bool
    let server: BenchmarkServer.Kind?
    private let name: String
    private let arguments: [String]
    private let isScript: Bool

    private init(
        _ title: String,
        _ name: String,
        _ arguments: [String] = [],
        isRepeated: Bool = true,
        server: BenchmarkServer.Kind? = nil
    ) {
        self.title = title
        self.name = name
        self.arguments = arguments
        self.isRepeated = isRepeated
        self.server = server
        isScript = false
    }

    /// A script in the folder of the package.
    private init(_ title: String, script: String) {
        self.title = title
        name = script
        arguments = []
        (isRepeated, server, isScript) = (false, nil, true)
    }

    /// Runs the benchmark, whose output is printed, and returns what it measured until it ended, or until its time was
    /// over.
    func run(until end: ContinuousClock.Instant, _ environment: [String: String]) throws -> BenchmarkRun {
        let file = FileManager.default.temporaryDirectory.appending(path: "targetkit-figures-\(getpid())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = isScript ? URL(filePath: "/usr/bin/env") : try Self.executable(name)
        process.arguments = isScript ? ["bash", Self.packageFolder.appending(path: name).path] : arguments
        let variables = environment.merging(["TARGETKIT_FIGURES": file.path]) { $1 }
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let left = max(0, ContinuousClock.now.duration(to: end).inSeconds)
        let isStopped = ended.wait(timeout: .now() + left) == .timedOut
        if isStopped {
            // Foundation starts each process in a group of its own, so their children are not reached by one signal.
            for member in Self.tree(of: process.processIdentifier) { kill(member, SIGTERM) }
            ended.wait()
        }
        print("")
        fflush(nil)
        var failure: String?
        if isStopped {
            failure = "stopped, because the time of the report was over; \(command) runs it whole"
        } else if process.terminationStatus != 0 {
            failure = "\(command) ended with status \(process.terminationStatus)"
        }
        return BenchmarkRun(records: try FigureRecord.read(file), failure: failure)
    }

    private var command: String { ([name] + arguments).joined(separator: " ") }

    /// The process and all that it started, directly or not.
    private static func tree(of process: pid_t) -> [pid_t] {
        let tasks = URL(filePath: "/proc/\(process)/task")
        let threads = (try? FileManager.default.contentsOfDirectory(at: tasks, includingPropertiesForKeys: nil)) ?? []
        let children = threads.flatMap { thread in
            let text = try? String(contentsOf: thread.appending(path: "children"), encoding: .utf8)
            return (text ?? "").split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
        }
        return [process] + children.flatMap(tree)
    }

    /// Beside this program.
    private static func executable(_ name: String) throws -> URL {
        let file = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: file.path) else {
            let command = "swift build -c release --package-path Benchmarks --product \(name)"
            throw ReportError(description: "\(file.path) isn't built: \(command)")
        }
        return file
    }

    static var packageFolder: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
    }
}
