// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// Runs this program again, by itself or under an instrument, and reads what was counted.
struct Instrument {
    /// Why a count could not be had.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How long a run may take, in seconds. None takes a tenth of it.
    private static let timeout = 120

    let server: URL
    /// This program without its debug information, which valgrind 3.19 cannot read.
    private let program: URL

    /// - Parameter folder: For the copy of the program.
    init(server: URL, in folder: URL) throws {
        self.server = server
        program = folder.appending(path: "counts")
        guard let own = Self.path(of: CommandLine.arguments[0]) else { throw Failure(description: "where am I?") }
        _ = try Self.run(["strip", "-g", "-o", program.path, own.path])
    }

    /// All that can be counted of a request.
    func counts(of work: Work) throws -> Counts {
        var counts = Counts()
        let amounts = work.amounts
        // Of several runs the least: threads that meet in another order only add.
        for _ in 0..<3 {
            let own = try ownCounts(of: work, amounts.whole)
            counts.keepLess(own.allocations, of: .allocations)
            counts.keepLess(own.switches, of: .contextSwitches)
        }
        counts[.instructions] = try difference(work, "valgrind", instructions)
        counts[.systemCalls] = try difference(work, "strace", systemCalls)
        let parts = Double(work.partsPerRequest)
        counts.values = counts.values.mapValues { $0 * parts }
        return counts
    }

    /// What a further part adds: starting the program and connecting are in both runs.
    private func difference(_ work: Work, _ tool: String, _ count: (Work, Int) throws -> Double) throws -> Double? {
        guard Self.path(of: tool) != nil else { return nil }
        let (less, more) = work.amounts.instrumented
        return try (count(work, more) - count(work, less)) / Double(more - less)
    }

    private func ownCounts(of work: Work, _ amount: Int) throws -> (allocations: Double, switches: Double) {
        let output = try run([], work, amount)
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 2 else { throw Failure(description: "\(work.rawValue) printed “\(output)”") }
        return (numbers[0] / Double(amount), numbers[1] / Double(amount))
    }

    private func instructions(of work: Work, _ amount: Int) throws -> Double {
        let options = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--fair-sched=yes"]
        let report = try report(of: work, amount) { ["valgrind"] + options + ["--log-file=\($0)"] }
        // ==1234== I   refs:      1,234,567
        guard let line = report.split(separator: "\n").first(where: { $0.contains("refs:") }),
            let text = line.split(separator: " ").last,
            let count = Double(text.filter { $0 != "," })
        else { throw Failure(description: "valgrind counted nothing:\n\(report)") }
        return count
    }

    private func systemCalls(of work: Work, _ amount: Int) throws -> Double {
        let report = try report(of: work, amount) { ["strace", "-f", "-c", "-U", "calls,name", "-o", $0] }
        guard let line = report.split(separator: "\n").last(where: { $0.hasSuffix(" total") }),
            let count = line.split(separator: " ").first.flatMap({ Double($0) })
        else { throw Failure(description: "strace counted nothing:\n\(report)") }
        return count
    }

    /// What an instrument writes to its file.
    private func report(of work: Work, _ amount: Int, _ command: (_ file: String) -> [String]) throws -> String {
        let file = program.deletingLastPathComponent().appending(path: "report")
        _ = try run(command(file.path), work, amount)
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// What this program prints when it has done the work, under an instrument or by itself.
    private func run(_ instrument: [String], _ work: Work, _ amount: Int) throws -> String {
        try Self.run(instrument + [program.path, "work", work.rawValue, "\(amount)", server.absoluteString])
    }

    private static func run(_ command: [String]) throws -> String {
        guard let path = path(of: command[0]) else { throw Failure(description: "there is no \(command[0])") }
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
            throw Failure(
                description: "\(command.joined(separator: " ")) ended with \(process.terminationStatus):\n\(text)"
            )
        }
        return text
    }

    /// The program of that name, or of that path.
    static func path(of name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        let paths = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        return paths.first(where: FileManager.default.isExecutableFile(atPath:)).map { URL(filePath: $0) }
    }
}

extension Counts {
    fileprivate mutating func keepLess(_ value: Double, of figure: Figure) {
        self[figure] = min(value, self[figure] ?? .infinity)
    }
}
