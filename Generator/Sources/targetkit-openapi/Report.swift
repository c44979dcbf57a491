// SPDX-License-Identifier: MIT
import Foundation
import TargetGenerator

/// What a run tells on standard error: a line for each construct that it doesn't express, and a summary.
struct Report {
    let result: TargetGenerator.Output
    let fileCount: Int
    /// Whether each place is a line.
    let isVerbose: Bool

    func write() {
        // Equal messages are one line, with the first place.
        for notes in result.notes.foldedByMessage {
            let others = notes.count - 1
            let count = others > 0 && !isVerbose ? " (and at \(others) more \(others == 1 ? "place" : "places"))" : ""
            for note in isVerbose ? notes : Array(notes.prefix(1)) { Self.write(note.line + count) }
        }
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
