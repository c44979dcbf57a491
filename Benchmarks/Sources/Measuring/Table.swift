// SPDX-License-Identifier: MIT
import Foundation

/// The figures of one run, printed line by line as they come.
public final class Table {
    /// What a figure has to be.
    public typealias Goal = Measuring.Goal

    private var misses: [String] = []
    private let isChecking: Bool

    /// A table with its head printed.
    ///
    /// - Parameters:
    ///   - columns: The heads of the columns whose meaning differs from table to table.
    ///   - arguments: With `--check` among them, a missed goal ends the program with status 1.
    public init(
        _ title: String,
        columns: (peer: String, figure: String) = ("peer", "figure"),
        arguments: [String] = CommandLine.arguments
    ) {
        isChecking = arguments.contains("--check")
        print("\(title)\n")
        printLine("what", "measured", columns.peer, columns.figure, "spread", "goal", "")
        print(String(repeating: "-", count: 134))
    }

    /// Adds a line with a count, which is the same in each round.
    ///
    /// - Parameter figure: What the goal is about.
    public func add(_ what: String, _ measured: String, _ peer: String = "", figure: Double, goal: Goal = .none) {
        add(what, measured, peer, figure, [], goal, goal.verdict(onCount: figure))
    }

    /// Adds a line with a figure that was measured in rounds, whose median and spread decide about the goal.
    ///
    /// - Parameter rounds: What the goal is about: ratios within each round, or costs.
    public func add(_ what: String, _ measured: String, _ peer: String = "", rounds: Rounds, goal: Goal = .none) {
        add(what, measured, peer, rounds.median, rounds.values, goal, goal.verdict(on: rounds))
    }

    private func add(
        _ what: String,
        _ measured: String,
        _ peer: String,
        _ figure: Double,
        _ rounds: [Double],
        _ goal: Goal,
        _ verdict: Goal.Verdict
    ) {
        if verdict == .missed { misses.append(what) }
        printLine(what, measured, peer, figureText(figure), spreadText(rounds), "\(goal)", verdict.rawValue)
        let line = FigureRecord.Figure(
            what: what,
            measured: measured,
            peer: peer,
            figure: figure,
            rounds: rounds,
            goal: goal
        )
        FigureRecord.figure(line).write()
    }

    private func spreadText(_ values: [Double]) -> String {
        if values.isEmpty { return "" }
        let spread = Rounds(values).spread
        return "\(figureText(spread.lowerBound)) – \(figureText(spread.upperBound))"
    }

    /// Measures two contenders at several sizes, and adds the curve of each, in microseconds.
    ///
    /// - Parameters:
    ///   - plot: The subject.
    ///   - names: The names of the contenders.
    ///   - sizes: The sizes, above 0.
    ///   - rounds: The number of rounds for each size.
    ///   - work: About how much a round does: the sum of the sizes of its repetitions.
    ///   - contenders: Returns what each contender does once, for a size.
    public func add(
        curves plot: String,
        of names: (String, String),
        sizes: [Int],
        rounds: Int,
        work: Int,
        _ contenders: (Int) throws -> (@Sendable () throws -> Void, @Sendable () throws -> Void)
    ) async throws {
        for size in sizes {
            let calls = max(1, work / size)
            let (first, second) = try contenders(size)
            let race = try await Race(
                rounds: rounds,
                [{ for _ in 0..<calls { try first() } }, { for _ in 0..<calls { try second() } }]
            )
            for (name, seconds) in zip([names.0, names.1], race.best) {
                let cost = seconds / Double(calls) * 1e6
                FigureRecord.point(.init(plot: plot, curve: name, size: Double(size), cost: cost)).write()
                printLine("\(name), \(size)", "", "", figureText(cost), "", "", "")
            }
        }
    }

    /// Prints the sum, and ends the program when a goal was missed and `--check` was asked for.
    public func finish() {
        print(misses.isEmpty ? "\nNo goal is missed." : "\nMissed: \(misses.joined(separator: "; "))")
        if isChecking, !misses.isEmpty { exit(1) }
    }

    private func printLine(_ columns: String...) {
        let widths = [50, 12, 32, 10, 15, 9, 10]
        let cells = zip(columns, widths).map { cell, width in
            cell + String(repeating: " ", count: max(1, width - cell.count))
        }
        print(cells.joined())
        fflush(nil)  // Into a pipe, lines would come all at the end.
    }
}
