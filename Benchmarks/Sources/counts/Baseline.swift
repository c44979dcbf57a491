// SPDX-License-Identifier: MIT
import Foundation

/// The accepted counts: a tab-separated file with a row per workload and a column per metric.
struct Baseline {
    private let file: URL
    private var rows: [Workload: Counts] = [:]

    /// Reads the file. A missing file is an empty baseline.
    init(_ file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        let metrics = (lines.first ?? []).dropFirst().map { Metric(rawValue: String($0)) }
        for line in lines.dropFirst() {
            guard let name = line.first, let workload = Workload(rawValue: String(name)) else { continue }
            var counts: Counts = [:]
            for (metric, text) in zip(metrics, line.dropFirst()) {
                if let metric { counts[metric] = Double(text) }
            }
            rows[workload] = counts
        }
    }

    /// The accepted counts of a workload.
    subscript(workload: Workload) -> Counts {
        get { rows[workload] ?? [:] }
        set { rows[workload] = newValue }
    }

    /// Replaces the file.
    func write() throws {
        let metrics = Metric.allCases
        var text = (["workload"] + metrics.map(\.rawValue)).joined(separator: "\t") + "\n"
        for workload in Workload.allCases {
            let counts = self[workload]
            text +=
                ([workload.rawValue] + metrics.map { counts[$0].map(countText) ?? "" }).joined(separator: "\t") + "\n"
        }
        try Data(text.utf8).write(to: file, options: .atomic)
    }
}

/// A count with as many digits as mean something.
func countText(_ count: Double) -> String {
    count < 100 ? String(format: "%.2f", count) : String(Int(count.rounded()))
}
