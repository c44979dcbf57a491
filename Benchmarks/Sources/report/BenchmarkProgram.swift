// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The reason why a benchmark gave no figures.
struct ReportError: Error, CustomStringConvertible {
    let description: String
}

/// A benchmark that the report runs, in a process of its own.
struct BenchmarkProgram {
    static let rounds = 5

    static let all = [
        BenchmarkProgram("Counts per request", "counts", isRepeated: false),
        BenchmarkProgram("Encoding", "encoding"),
        BenchmarkProgram("Responses", "responses"),
        BenchmarkProgram("Calls without a network", "calls"),
        BenchmarkProgram("Calls over the network", "network", needsServer: true),
        BenchmarkProgram("Calls cancelled", "network", ["cancel"]),
        BenchmarkProgram("The first call of a process", "network", ["start"], needsServer: true),
        BenchmarkProgram("Cost of a build", script: "size.sh"),
        BenchmarkProgram("Encoding, by size", "encoding", ["sizes"], isRepeated: false),
        BenchmarkProgram("Responses, by size", "responses", ["sizes"], isRepeated: false),
    ]

    let title: String
    let isRepeated: Bool
    let needsServer: Bool
    private let name: String
    private let arguments: [String]
    private let isScript: Bool

    private init(
        _ title: String,
        _ name: String,
        _ arguments: [String] = [],
        isRepeated: Bool = true,
        needsServer: Bool = false
    ) {
        self.title = title
        self.name = name
        self.arguments = arguments
        self.isRepeated = isRepeated
        self.needsServer = needsServer
        isScript = false
    }

    /// A script in the folder of the package.
    private init(_ title: String, script: String) {
        self.title = title
        name = script
        arguments = []
        (isRepeated, needsServer, isScript) = (false, false, true)
    }

    /// Runs the benchmark, whose output is printed, and returns what it measured.
    func run() throws -> [FigureRecord] {
        let file = FileManager.default.temporaryDirectory.appending(path: "targetkit-figures-\(getpid())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = isScript ? URL(filePath: "/usr/bin/env") : try Self.executable(name)
        process.arguments = isScript ? ["bash", Self.packageFolder.appending(path: name).path] : arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TARGETKIT_FIGURES": file.path]) { $1 }
        try process.run()
        process.waitUntilExit()
        print("")
        guard process.terminationStatus == 0 else {
            throw ReportError(description: "\(name) ended with status \(process.terminationStatus)")
        }
        return try FigureRecord.read(file)
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
