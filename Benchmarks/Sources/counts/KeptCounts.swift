// SPDX-License-Identifier: MIT
import Foundation

/// The counts that the repository keeps: a line for each kind of work, a column for each figure, with a tab between them.
struct KeptCounts {
    private let file: URL
    private var lines: [Work: Counts] = [:]

    /// Reads the file; one that is not there keeps nothing.
    init(_ file: URL) throws {
        self.file = file
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        let figures = (rows.first ?? []).dropFirst().map { Counts.Figure(rawValue: String($0)) }
        for row in rows.dropFirst() {
            guard let name = row.first, let work = Work(rawValue: String(name)) else { continue }
            var counts = Counts()
            for (figure, text) in zip(figures, row.dropFirst()) {
                if let figure { counts[figure] = Double(text) }
            }
            lines[work] = counts
        }
    }

    /// The counts that are kept of a kind of work.
    subscript(work: Work) -> Counts {
        get { lines[work] ?? Counts() }
        set { lines[work] = newValue }
    }

    /// Replaces the file.
    func write() throws {
        let figures = Counts.Figure.allCases
        var text = (["work"] + figures.map(\.rawValue)).joined(separator: "\t") + "\n"
        for work in Work.allCases {
            let counts = self[work]
            text += ([work.rawValue] + figures.map { counts[$0].map(countText) ?? "" }).joined(separator: "\t") + "\n"
        }
        try Data(text.utf8).write(to: file, options: .atomic)
    }
}

/// A count with as many digits as mean something.
func countText(_ count: Double) -> String {
    count < 100 ? String(format: "%.2f", count) : String(Int(count.rounded()))
}
