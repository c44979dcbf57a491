// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// All figures in one run, each benchmark several times as far as the time allows: `report [FILE] [--minutes N]`.
///
/// It prints what the benchmarks print, then each ratio with its spread, and writes a page with tables and plots to
/// `FILE`, by default `benchmark-report.html` in the current folder. Build the other benchmarks first:
/// `swift build -c release --package-path Benchmarks`.
@main
struct ReportBenchmark {
    static func main() async throws {
        let arguments = Arguments(CommandLine.arguments.dropFirst())
        let end = ContinuousClock.now + .seconds(arguments.minutes * 60)
        let server = BenchmarkServer.start()
        defer { server?.stop() }
        if server == nil { print("nginx isn't installed: the figures of the network are left out.\n") }
        var collection = FigureCollection()
        let programs = BenchmarkProgram.all.filter { !$0.needsServer || server != nil }
        var longest: [String: Duration] = [:]
        // First all of them once, then again those for which there is time.
        for round in 0..<BenchmarkProgram.rounds {
            for program in programs {
                if round > 0 {
                    guard program.isRepeated, let time = longest[program.title], .now + time < end else { continue }
                }
                let start = ContinuousClock.now
                do {
                    collection.add(try program.run(), of: program.title)
                } catch {
                    print("\(program.title): \(error)\n")
                    collection.addFailure("\(error)", of: program.title)
                }
                longest[program.title] = start.duration(to: .now)
            }
        }
        print(collection.text)
        try ReportPage(collection).html.write(to: arguments.file, atomically: true, encoding: .utf8)
        print("\nThe page with plots: \(arguments.file.path)")
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
