// SPDX-License-Identifier: MIT
import Foundation

/// What a benchmark measured, for the program that collects it: a line of JSON in the file that the environment variable
/// `TARGETKIT_FIGURES` names.
public enum FigureRecord: Codable, Sendable {
    /// A line of a table.
    case figure(Figure)
    /// A point of a curve.
    case point(Point)

    /// A line of a ``Table``.
    public struct Figure: Codable, Sendable {
        /// What was measured.
        public let what: String
        /// The measured value, with its unit.
        public let measured: String
        /// The value of the peer; empty without one.
        public let peer: String
        /// What the goal is about: the median of the rounds, or a count.
        public let figure: Double
        /// The figure in each round; empty for a count.
        public let rounds: [Double]
        /// What the figure has to be.
        public let goal: Goal

        /// Creates a line.
        public init(what: String, measured: String, peer: String, figure: Double, rounds: [Double], goal: Goal) {
            (self.what, self.measured, self.peer) = (what, measured, peer)
            (self.figure, self.rounds, self.goal) = (figure, rounds, goal)
        }
    }

    /// What something of a size costs.
    public struct Point: Codable, Sendable {
        /// The subject of the plot, for example `parameters → query, ns each`.
        public let plot: String
        /// Whose cost it is.
        public let curve: String
        /// How large it is, in the plot's unit.
        public let size: Double
        /// What it costs, in the plot's unit.
        public let cost: Double

        /// Creates a point.
        public init(plot: String, curve: String, size: Double, cost: Double) {
            (self.plot, self.curve, self.size, self.cost) = (plot, curve, size, cost)
        }
    }

    /// Appends the record to the file, if there is one.
    public func write() {
        guard let path = ProcessInfo.processInfo.environment["TARGETKIT_FIGURES"],
            let file = FileHandle(forWritingAtPath: path)
        else { return }
        let encoder = JSONEncoder()
        // A count that could not be made is infinite.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        do {
            try file.seekToEnd()
            try file.write(contentsOf: try encoder.encode(self) + Data("\n".utf8))
        } catch {
            print("can't write to \(path): \(error)")
        }
    }

    /// Reads the records of a file.
    public static func read(_ file: URL) throws -> [FigureRecord] {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(FigureRecord.self, from: $0)
        }
    }
}
