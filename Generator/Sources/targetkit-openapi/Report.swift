// SPDX-License-Identifier: MIT
import Foundation
import TargetGenerator

/// What a run tells on standard error: a line for each construct that it doesn't express, and a summary.
struct Report {
    let result: TargetGenerator.Output
    let fileCount: Int

    func write() {
        for note in result.notes { Self.write(note.line) }
        Self.write(summary)
    }

    private var summary: String {
        let counts = "\(result.operationCount) operations and \(result.modelCount) types in \(fileCount) files"
        let constructs = Dictionary(grouping: result.notes, by: \.construct).mapValues(\.count)
        guard !constructs.isEmpty else { return counts + "." }
        let list = constructs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(counts); not expressed as they are: \(list)."
    }

    static func write(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}
