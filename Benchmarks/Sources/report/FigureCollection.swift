// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The figures of all runs, by benchmark and line.
struct FigureCollection {
    /// A line of a table, with its figure of each run.
    struct Line {
        let last: FigureRecord.Figure
        let figures: [Double]

        var lowest: Double { figures.min() ?? 0 }
        var highest: Double { figures.max() ?? 0 }
        var median: Double { figures.sorted()[figures.count / 2] }
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
                let earlier = new.count < known.count ? known[new.count].figures : []
                new.append(Line(last: figure, figures: earlier + [figure.figure]))
            }
        }
        lines[title] = new
    }

    mutating func addFailure(_ reason: String, of title: String) {
        if lines[title] == nil { titles.append(title) }
        lines[title] = lines[title] ?? []
        failures[title] = reason
    }

    func lines(of title: String) -> [Line] { lines[title] ?? [] }

    /// Each line with its median and its spread.
    var text: String {
        var text = ""
        for title in titles where !lines(of: title).isEmpty {
            text += "\(title)\n"
            for line in lines(of: title) {
                let spread = line.figures.count > 1 ? "\(short(line.lowest)) – \(short(line.highest))" : ""
                let cells = [line.last.what, line.last.measured, short(line.median), spread, line.last.goal]
                text += zip(cells, [58, 14, 12, 20, 9]).map { $0.padded(to: $1) }.joined() + "\n"
            }
            text += "\n"
        }
        return text
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
