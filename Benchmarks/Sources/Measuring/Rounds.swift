// SPDX-License-Identifier: MIT
import Foundation

/// A figure in each of several rounds: a ratio of two contenders in the same round, or the cost of one.
///
/// The median of the rounds is the figure. Ratios of the contenders' best or mean rounds would compare what was measured
/// seconds apart, when the machine was in another state.
public struct Rounds: Sendable {
    /// The figure in each round.
    public let values: [Double]

    /// Creates a figure from its value in each round.
    public init(_ values: [Double]) {
        self.values = values
    }

    /// Creates the ratio of two contenders in each round.
    public init(_ own: [Double], by peer: [Double]) {
        values = zip(own, peer).map(/)
    }

    /// The middle value; infinite without rounds.
    public var median: Double { value(at: 0.5) }

    /// The middle half of the values, from the first to the third quartile.
    public var spread: ClosedRange<Double> { value(at: 0.25)...value(at: 0.75) }

    private func value(at part: Double) -> Double {
        values.isEmpty ? .infinity : values.sorted()[min(values.count - 1, Int(Double(values.count) * part))]
    }
}

/// What a figure has to be.
public enum Goal: Codable, Sendable, Hashable, CustomStringConvertible {
    case atMost(Double)
    case atLeast(Double)
    /// A figure to know, without a goal.
    case none

    /// Whether a figure meets its goal.
    public enum Verdict: String, Sendable {
        case met = "ok"
        case missed = "MISS"
        /// The rounds disagree: the goal is within their middle half.
        case unclear
        /// There are too few rounds.
        case notJudged = "not judged"
        case none = ""
    }

    /// The number of rounds from which a goal is judged.
    public static let fewestRounds = 5

    /// Judges a figure that was measured in rounds: by their median, unless they are too few or disagree.
    public func verdict(on rounds: Rounds) -> Verdict {
        guard self != .none else { return .none }
        guard rounds.values.count >= Self.fewestRounds else { return .notJudged }
        let spread = rounds.spread
        let (low, high) = (isMet(by: spread.lowerBound), isMet(by: spread.upperBound))
        if low != high { return .unclear }
        return isMet(by: rounds.median) ? .met : .missed
    }

    /// Judges a count, which is the same in each round.
    public func verdict(onCount count: Double) -> Verdict {
        self == .none ? .none : isMet(by: count) ? .met : .missed
    }

    private func isMet(by figure: Double) -> Bool {
        switch self {
        case .atMost(let limit): figure <= limit
        case .atLeast(let limit): figure >= limit
        case .none: true
        }
    }

    /// `≤ 1.25`, for example; empty without a goal.
    public var description: String {
        switch self {
        case .atMost(let limit): "≤ \(figureText(limit))"
        case .atLeast(let limit): "≥ \(figureText(limit))"
        case .none: ""
        }
    }
}

/// A figure with at most two decimal places.
public func figureText(_ number: Double) -> String {
    number.isFinite && number == number.rounded() && abs(number) >= 10
        ? String(Int(number)) : String(format: "%.2f", number)
}
