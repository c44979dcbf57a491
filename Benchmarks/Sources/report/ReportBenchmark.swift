// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// All figures in one run, each benchmark several times as far as the time allows: `report [FILE] [--minutes N]`.
///
/// It prints what the benchmarks print, then each figure with its spread, and writes a page with tables and plots to
/// `FILE`, by default `benchmark-report.html` in the current folder. Each run has a part of the rounds of a benchmark.
/// A benchmark for which there is no time is left out, or stopped, and the report says so. Build the others first:
/// `swift build -c release --package-path Benchmarks`.
@main
struct ReportBenchmark {
    /// The part of its rounds that a benchmark runs each time.
    private static let partOfRounds = 0.2
    private static let repetitions = 5

    static func main() throws {
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        let end = ContinuousClock.now + .seconds(arguments.minutes * 60)
        var collection = FigureCollection()
        var servers: [BenchmarkServer] = []
        defer { for server in servers { server.stop() } }
        var environment = ["TARGETKIT_ROUNDS": "\(partOfRounds)"]
        for kind in [BenchmarkServer.Kind.plain, .tls] {
            do {
                let server = try BenchmarkServer(kind)
                servers.append(server)
                environment.merge(server.environment) { $1 }
            } catch {
                for program in BenchmarkProgram.all where program.server == kind {
                    collection.addFailure("left out: \(error)", of: program.title)
                }
            }
        }
        let kinds = servers.map(\.kind)
        let programs = BenchmarkProgram.all.filter { $0.server.map(kinds.contains) ?? true }
        var times: [String: Duration] = [:]
        // First all of them once, then again those for which there is time.
        for repetition in 0..<repetitions {
            for program in programs {
                let start = ContinuousClock.now
                if repetition > 0 {
                    guard program.isRepeated, let time = times[program.title], start + time < end else { continue }
                }
                guard start < end else {
                    collection.addFailure("left out: the time of the report was over", of: program.title)
                    continue
                }
                do {
                    let run = try program.run(until: end, environment)
                    collection.add(run.records, of: program.title)
                    if repetition == 0, let failure = run.failure { collection.addFailure(failure, of: program.title) }
                } catch {
                    collection.addFailure("\(error)", of: program.title)
                }
                times[program.title] = start.duration(to: .now)
            }
        }
        print(collection.text)
        try ReportPage(collection).html.write(to: arguments.file, atomically: true, encoding: .utf8)
        print("The page with plots: \(arguments.file.path)")
    }

    private struct Arguments {
        var file = URL(filePath: "benchmark-report.html")
        var minutes = 15.0

        init(_ arguments: ArraySlice<String>) {
            var rest = arguments
            while let argument = rest.popFirst() {
                if argument == "--minutes" {
                    guard let minutes = rest.popFirst().flatMap(Double.init), minutes > 0 else { Self.usage() }
                    self.minutes = minutes
                } else if argument.hasPrefix("-") {
                    Self.usage()
                } else {
                    file = URL(filePath: argument)
                }
            }
        }

        private static func usage() -> Never {
            print("report [FILE] [--minutes N]")
            exit(2)
        }
    }
}
