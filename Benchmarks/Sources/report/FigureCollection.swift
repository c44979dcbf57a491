// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The figures of all runs, by benchmark and line.
struct FigureCollection {
    /// A line of a table in each run.
    struct Line {
        /// By their figures, the lowest first.
        private let runs: [FigureRecord.Figure]

        fileprivate init(_ runs: [FigureRecord.Figure]) {
            self.runs = runs.sorted { $0.figure < $1.figure }
        }

        fileprivate func adding(_ run: FigureRecord.Figure) -> Line { Line(runs + [run]) }

        /// The run whose figure is in the middle.
        var median: FigureRecord.Figure { runs[runs.count / 2] }
        /// The rounds of all runs; `nil` for a count.
        private var rounds: Rounds? {
            let values = runs.flatMap(\.rounds)
            return values.isEmpty ? nil : Rounds(values)
        }

        /// The median of all rounds; of a count, that of the runs.
        var figure: Double { rounds?.median ?? median.figure }
        /// The middle half of the rounds; of a count, the lowest and the highest. `nil` for one value.
        var spread: ClosedRange<Double>? {
            if let rounds { return rounds.values.count > 1 ? rounds.spread : nil }
            return runs.count > 1 ? runs[0].figure...runs[runs.count - 1].figure : nil
        }
        var verdict: Goal.Verdict {
            let goal = median.goal
            return rounds.map { goal.verdict(on: $0) } ?? goal.verdict(onCount: median.figure)
        }
    }

    private(set) var titles: [String] = []
    private(set) var failures: [String: String] = [:]
    private(set) var points: [FigureRecord.Point] = []
    private var lines: [String: [Line]] = [:]

    mutating func add(_ records: [FigureRecord], of title: String) {
        if lines[title] == nil { titles.append(title) }
        let known = lines[title] ?? []
        var new: [Line] = []
        for record in records {
            switch record {
            case .point(let point): points.append(point)
            case .figure(let figure):
                // The lines of a benchmark are the same in each run, and some have the same text.
                new.append(new.count < known.count ? known[new.count].adding(figure) : Line([figure]))
            }
        }
        // A run that was stopped has fewer.
        lines[title] = new + known.dropFirst(new.count)
    }

    mutating func addFailure(_ reason: String, of title: String) {
        if lines[title] == nil { titles.append(title) }
        lines[title] = lines[title] ?? []
        failures[title] = reason
    }

    func lines(of title: String) -> [Line] { lines[title] ?? [] }

    /// Each line with its median and its spread, and why some are missing.
    var text: String {
        var text = ""
        for title in titles where !lines(of: title).isEmpty || failures[title] != nil {
            text += "\(title)\n"
            if let failure = failures[title] { text += "\(failure)\n" }
            for line in lines(of: title) {
                let run = line.median
                let cells = [
                    run.what, run.measured, short(line.figure), spread(line), "\(run.goal)", line.verdict.rawValue,
                ]
                text += zip(cells, [58, 14, 12, 20, 9, 10]).map { $0.padded(to: $1) }.joined() + "\n"
            }
            text += "\n"
        }
        return text
    }

    /// `0.97 – 1.06`; empty for one run.
    func spread(_ line: Line) -> String {
        line.spread.map { "\(short($0.lowerBound)) – \(short($0.upperBound))" } ?? ""
    }

    func short(_ number: Double) -> String {
        abs(number) >= 1_000 ? String(format: "%.0f", number) : String(format: "%.2f", number)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
