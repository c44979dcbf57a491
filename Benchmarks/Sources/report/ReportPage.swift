// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// The figures as one HTML file that loads nothing.
struct ReportPage {
    private let collection: FigureCollection

    init(_ collection: FigureCollection) {
        self.collection = collection
    }

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>TargetKit: benchmarks</title>
        <style>\(Self.style)</style>
        <h1>TargetKit: benchmarks</h1>
        <p>\(escaped(machine))</p>
        <p>Each figure is the median of its rounds, with their middle half; a figure by a peer is their ratio within a round. A goal is judged from at least \(Goal.fewestRounds) rounds, and not if it is within their middle half. Of a count, the median of the runs is judged.</p>
        \(collection.titles.map(section).joined(separator: "\n"))
        <h2>Cost against size</h2>
        \(plots)
        </html>
        """
    }

    private var machine: String {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let memory = ProcessInfo.processInfo.physicalMemory >> 30
        let date = Date.now.formatted(.iso8601.year().month().day())
        return "\(date), \(ProcessInfo.processInfo.operatingSystemVersionString), \(cores) cores, \(memory) GiB"
    }

    private func section(_ title: String) -> String {
        let lines = collection.lines(of: title)
        let failure = collection.failures[title].map { "<p class=\"missed\">\(escaped($0))</p>" } ?? ""
        if lines.isEmpty { return failure.isEmpty ? "" : "<h2>\(escaped(title))</h2>\(failure)" }
        return """
            <h2>\(escaped(title))</h2>
            \(failure)
            <div class="table"><table>
            <tr><th>what</th><th>measured</th><th>peer</th><th>figure</th><th>spread</th><th>goal</th><th></th></tr>
            \(lines.map(row).joined(separator: "\n"))
            </table></div>
            """
    }

    private func row(_ line: FigureCollection.Line) -> String {
        let run = line.median
        let spread = collection.spread(line)
        let cells = [
            run.what, run.measured, run.peer, collection.short(line.figure), spread, "\(run.goal)",
            line.verdict.rawValue,
        ]
        let style =
            switch line.verdict {
            case .met: " class=\"met\""
            case .missed: " class=\"missed\""
            case .unclear, .notJudged, .none: ""
            }
        return "<tr\(style)>\(cells.map { "<td>\(escaped($0))</td>" }.joined())</tr>"
    }

    private var plots: String {
        var names: [String] = []
        for point in collection.points where !names.contains(point.plot) { names.append(point.plot) }
        return names.compactMap { name -> String? in
            guard let plot = LinePlot(collection.points.filter { $0.plot == name }) else { return nil }
            return "<figure><figcaption>\(escaped(name))</figcaption>\(plot.svg)</figure>"
        }.joined(separator: "\n")
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private static let style = """
        :root { color-scheme: light dark; --line: #8884; --one: #0a6; --two: #c60; --bad: #c33; }
        body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
        th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
        .missed td:last-child, p.missed { color: var(--bad); }
        .met td:last-child { color: var(--one); }
        figure { margin: 1.5rem 0; max-width: 42rem; }
        svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; fill: currentColor; }
        .grid { stroke: var(--line); }
        polyline { fill: none; stroke-width: 2; }
        .curve-0 { color: var(--one); } .curve-1 { color: var(--two); }
        .curve polyline { stroke: currentColor; } .curve circle, .curve text { fill: currentColor; }
        """
}
