// SPDX-License-Identifier: MIT
import Allocations
import Foundation
import Loopback
import Measuring
import Workloads

/// The cost of a request in instructions, allocations, context switches and system calls, compared with the baseline in
/// `Benchmarks/counts.tsv`: `counts [--check | --write] [WORKLOAD…]`. `counts plugins [TYPE…]` prints the instructions
/// that each plugin adds to a stubbed call.
@main
struct CountsBenchmark {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "run":
            // An asynchronous `main` ends the first thread, which valgrind 3.19 does not survive.
            let end = DispatchSemaphore(value: 0)
            Task.detached {
                do { try await run(Array(arguments.dropFirst())) } catch { fatalError("\(error)") }
                end.signal()
            }
            end.wait()
        case "serve": serve()
        case "plugins": try comparePlugins(Array(arguments.dropFirst()))
        default: try compare(arguments)
        }
    }

    /// Runs a workload, and prints its allocations and context switches: what an instrument runs.
    private static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let count = Int(arguments[1]), let server = URL(string: arguments[2]) else {
            throw CountsError(description: "counts run WORKLOAD COUNT SERVER")
        }
        guard let workload = Workload(rawValue: arguments[0]) else {
            let plugin = PluginSet.each.first { $0.name == arguments[0] }?.plugin
            return try await Workload.stub(count, with: plugin, server: server)
        }
        // What the first call of a process sets up is no request's.
        try await workload.run(1, server: server)
        let allocations = allocations_count()
        let switches = ProcessFigures.contextSwitches
        try await workload.run(count, server: server)
        print(allocations_count() - allocations, ProcessFigures.contextSwitches - switches)
    }

    /// A process of its own, so that the server's work is not counted. It ends with the one that reads its port.
    private static func serve() {
        print("http://127.0.0.1:\(loopback_start_server())")
        fflush(nil)
        while readLine() != nil {}
    }

    private static func compare(_ arguments: [String]) throws {
        let names = arguments.filter { !$0.hasPrefix("-") }
        let workloads = names.isEmpty ? Workload.allCases : try names.map(workload(named:))
        let server = Process()
        let (port, end) = (Pipe(), Pipe())
        server.executableURL = executable(CommandLine.arguments[0])
        server.arguments = ["serve"]
        server.standardOutput = port
        server.standardInput = end
        try server.run()
        defer { try? end.fileHandleForWriting.close() }
        let address = String(decoding: port.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: address.filter { $0 != "\n" }) else {
            throw CountsError(description: "the server printed “\(address)”")
        }
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../counts.tsv")
        var baseline = try Baseline(file)
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-counts-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let instrument = try Instrument(server: url, in: folder)
        let title = "Counts per request, compared with Benchmarks/counts.tsv"
        let table = Table(title, columns: (peer: "baseline", figure: "ratio"))
        for workload in workloads {
            var counts = try instrument.counts(of: workload)
            // How the threads take turns under an instrument only adds to a count, so the least of three is compared.
            for _ in 1..<3 where Metric.allCases.contains(where: { isExceeded($0, of: workload, counts, baseline) }) {
                counts.merge(try instrument.counts(of: workload)) { min($0, $1) }
            }
            for metric in Metric.allCases { add(metric, of: workload, counts, baseline[workload], to: table) }
            baseline[workload].merge(counts) { $1 }
        }
        if arguments.contains("--write") { try baseline.write() }
        table.finish()
    }

    /// Prints what each plugin adds to a stubbed call.
    private static func comparePlugins(_ names: [String]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-counts-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // A stubbed call needs no server.
        guard let server = URL(string: "http://127.0.0.1") else { return }
        let instrument = try Instrument(server: server, in: folder)
        guard let bare = try instrument.instructions(ofStubbedCallWith: "none") else {
            throw CountsError(description: "valgrind isn't installed")
        }
        print("Instructions of a stubbed call: \(Int(bare)); with one plugin, in addition:")
        for plugin in PluginSet.each.map(\.name) where names.isEmpty || names.contains(plugin) {
            let all = try instrument.instructions(ofStubbedCallWith: plugin) ?? 0
            print("\(Int(all - bare))\t\(plugin)")
        }
    }

    private static func isExceeded(
        _ metric: Metric,
        of workload: Workload,
        _ counts: Counts,
        _ baseline: Baseline
    ) -> Bool {
        guard let count = counts[metric], let accepted = baseline[workload][metric] else { return false }
        return ratio(count, to: accepted, metric) > 1 + metric.tolerance(of: workload)
    }

    private static func ratio(_ count: Double, to accepted: Double, _ metric: Metric) -> Double {
        abs(count - accepted) <= metric.slack ? 1 : count / accepted
    }

    private static func workload(named name: String) throws -> Workload {
        if let workload = Workload(rawValue: name) { return workload }
        let names = Workload.allCases.map(\.rawValue).joined(separator: "”, “")
        throw CountsError(description: "There is no “\(name)”; there are “\(names)”.")
    }

    private static func add(
        _ metric: Metric,
        of workload: Workload,
        _ counts: Counts,
        _ baseline: Counts,
        to table: Table
    ) {
        let what = "\(workload.rawValue): \(metric.rawValue)"
        guard let count = counts[metric] else {
            // A metric that could not be counted fails the check.
            return table.add(what, "no tool", figure: .infinity, goal: .atMost(0))
        }
        guard let accepted = baseline[metric] else { return table.add(what, countText(count), "none", figure: 1) }
        let ratio = ratio(count, to: accepted, metric)
        let limit = 1 + metric.tolerance(of: workload)
        table.add(what, countText(count), countText(accepted), figure: ratio, goal: .atMost(limit))
    }
}
