// SPDX-License-Identifier: MIT
import Allocations
import Foundation
import Loopback
import Measuring

/// What a request takes, in instructions, allocations, context switches and system calls, against the counts that
/// `Benchmarks/counts.tsv` keeps: `counts [--check | --write] [WORK…]`.
@main
struct CountsBenchmark {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "work":
            // An asynchronous `main` ends the first thread, which valgrind 3.19 does not survive.
            let end = DispatchSemaphore(value: 0)
            Task.detached {
                do { try await work(Array(arguments.dropFirst())) } catch { fatalError("\(error)") }
                end.signal()
            }
            end.wait()
        case "serve": serve()
        default: try compare(arguments)
        }
    }

    /// Does one kind of work, and prints its allocations and context switches: what an instrument runs.
    private static func work(_ arguments: [String]) async throws {
        guard arguments.count == 3, let work = Work(rawValue: arguments[0]), let amount = Int(arguments[1]),
            let server = URL(string: arguments[2])
        else { throw Instrument.Failure(description: "counts work WORK AMOUNT SERVER") }
        // What the first call of a process sets up is no request's.
        try await work.run(1, server: server)
        let allocations = allocations_count()
        let switches = ProcessFigures.contextSwitches
        try await work.run(amount, server: server)
        print(allocations_count() - allocations, ProcessFigures.contextSwitches - switches)
    }

    /// A process of its own, so that what the server does is not counted. It ends with the one that reads its port.
    private static func serve() {
        print("http://127.0.0.1:\(loopback_start_server())")
        fflush(nil)
        while readLine() != nil {}
    }

    private static func compare(_ arguments: [String]) throws {
        let names = arguments.filter { !$0.hasPrefix("-") }
        let works = names.isEmpty ? Work.allCases : try names.map(work(named:))
        let server = Process()
        let (port, end) = (Pipe(), Pipe())
        server.executableURL = Instrument.path(of: CommandLine.arguments[0])
        server.arguments = ["serve"]
        server.standardOutput = port
        server.standardInput = end
        try server.run()
        defer { try? end.fileHandleForWriting.close() }
        let address = String(decoding: port.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: address.filter { $0 != "\n" }) else {
            throw Instrument.Failure(description: "the server said “\(address)”")
        }
        var kept = try KeptCounts(
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../counts.tsv")
        )
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-counts-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let instrument = try Instrument(server: url, in: folder)
        let table = Table("Counts per request, by those in Benchmarks/counts.tsv")
        for work in works {
            let counts = try instrument.counts(of: work)
            for figure in Counts.Figure.allCases { add(figure, of: work, counts, kept[work], to: table) }
            kept[work].values.merge(counts.values) { $1 }
        }
        if arguments.contains("--write") { try kept.write() }
        table.finish()
    }

    private static func work(named name: String) throws -> Work {
        if let work = Work(rawValue: name) { return work }
        let names = Work.allCases.map(\.rawValue).joined(separator: "”, “")
        throw Instrument.Failure(description: "There is no “\(name)”; there are “\(names)”.")
    }

    private static func add(_ figure: Counts.Figure, of work: Work, _ counts: Counts, _ kept: Counts, to table: Table) {
        let what = "\(work.rawValue): \(figure.rawValue)"
        guard let count = counts[figure] else {
            // A check that did not look has not passed.
            return table.add(what, "no tool", figure: .infinity, goal: .atMost(0))
        }
        guard let limit = kept[figure] else { return table.add(what, countText(count), figure: 1) }
        let tolerance = 1 + figure.tolerance(of: work)
        let isNoise = abs(count - limit) <= figure.slack
        let ratio = isNoise ? 1 : count / limit
        table.add(what, countText(count), countText(limit), figure: ratio, goal: .atMost(tolerance))
    }
}
