// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The reason why there is no count.
struct CountsError: Error, CustomStringConvertible {
    let description: String
}

/// Runs this program again, by itself or under an instrument, and reads what was counted.
struct Instrument {
    /// The time limit of a run, in seconds; a run takes less than a tenth of it.
    private static let timeout = 120

    /// The runs of which the lowest count is used, where scheduling only adds to it.
    private static let runs = 3

    let server: URL
    /// This program without its debug information, which valgrind 3.19 cannot read.
    private let program: URL

    /// - Parameter folder: For the copy of the program.
    init(server: URL, in folder: URL) throws {
        self.server = server
        program = folder.appending(path: "counts")
        guard let own = executable(CommandLine.arguments[0]) else {
            throw CountsError(description: "can't find this executable")
        }
        _ = try Self.run(["strip", "-g", "-o", program.path, own.path])
    }

    /// All that can be counted of a request.
    func counts(of workload: Workload) throws -> Counts {
        var counts: Counts = [:]
        for _ in 0..<Self.runs {
            let own = try ownCounts(of: workload, workload.count)
            counts.merge(own, uniquingKeysWith: min)
        }
        counts[.instructions] = try difference(workload, "valgrind", instructions)
        counts[.systemCalls] = try difference(workload, "strace", systemCalls)
        let parts = Double(workload.partsPerRequest)
        return counts.mapValues { $0 * parts }
    }

    /// The count per part: the difference of two runs, so that start-up cancels out.
    private func difference(
        _ workload: Workload,
        as name: String? = nil,
        _ tool: String,
        _ count: (String, Int) throws -> Double
    ) throws -> Double? {
        guard executable(tool) != nil else { return nil }
        let (short, long) = workload.instrumentedCounts
        return try (count(name ?? workload.rawValue, long) - count(name ?? workload.rawValue, short))
            / Double(long - short)
    }

    /// The instructions of a stubbed call with the plugin of this name, or without plugins.
    func instructions(ofStubbedCallWith plugin: String) throws -> Double? {
        try difference(.stubbed, as: plugin, "valgrind", instructions)
    }

    private func ownCounts(of workload: Workload, _ count: Int) throws -> Counts {
        let output = try run([], workload.rawValue, count)
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 2 else { throw CountsError(description: "\(workload.rawValue) printed “\(output)”") }
        return [.allocations: numbers[0] / Double(count), .contextSwitches: numbers[1] / Double(count)]
    }

    private func instructions(of workload: String, _ count: Int) throws -> Double {
        let options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--fair-sched=yes"]
        let report = try report(of: workload, count) { ["valgrind"] + options + ["--log-file=\($0)"] }
        // ==1234== I   refs:      1,234,567
        guard let line = report.split(separator: "\n").first(where: { $0.contains("refs:") }),
            let text = line.split(separator: " ").last,
            let number = Double(text.filter { $0 != "," })
        else { throw CountsError(description: "valgrind counted nothing:\n\(report)") }
        return number
    }

    private func systemCalls(of workload: String, _ count: Int) throws -> Double {
        try (0..<Self.runs).reduce(.infinity) { lowest, _ in min(lowest, try systemCallsOnce(of: workload, count)) }
    }

    private func systemCallsOnce(of workload: String, _ count: Int) throws -> Double {
        let report = try report(of: workload, count) { ["strace", "-f", "-c", "-U", "calls,name", "-o", $0] }
        guard let line = report.split(separator: "\n").last(where: { $0.hasSuffix(" total") }),
            let number = line.split(separator: " ").first.flatMap({ Double($0) })
        else { throw CountsError(description: "strace counted nothing:\n\(report)") }
        return number
    }

    /// What an instrument writes to its file.
    private func report(of workload: String, _ count: Int, _ command: (_ file: String) -> [String]) throws -> String {
        let file = program.deletingLastPathComponent().appending(path: "report")
        _ = try run(command(file.path), workload, count)
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// What this program prints when it has run a workload, under an instrument or by itself.
    private func run(_ instrument: [String], _ workload: String, _ count: Int) throws -> String {
        try Self.run(instrument + [program.path, "run", workload, "\(count)", server.absoluteString])
    }

    private static func run(_ command: [String]) throws -> String {
        guard let path = executable(command[0]) else { throw CountsError(description: "\(command[0]) isn't installed") }
        let process = Process()
        process.executableURL = path
        process.arguments = Array(command.dropFirst())
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(timeout)) {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let words = command.joined(separator: " ")
            throw CountsError(description: "\(words) ended with status \(process.terminationStatus):\n\(text)")
        }
        return text
    }
}
