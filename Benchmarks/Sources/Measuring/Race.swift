// SPDX-License-Identifier: MIT
import Foundation

/// Contenders measured in turn, A B A B …: whatever else the machine does meets all of them alike.
///
/// Two contenders are compared by their ratio in each round, of which the median counts. Of each contender alone, the best
/// round counts: noise only ever adds.
public struct Race {
    /// Seconds of each contender in each round.
    public let seconds: [[Double]]

    /// Seconds of each contender's best round.
    public var best: [Double] { seconds.map { $0.min() ?? .infinity } }

    /// Runs every contender once to warm up, and then all of them in each round.
    public init(rounds: Int, _ contenders: [@Sendable () async throws -> Void]) async throws {
        for contender in contenders { try await contender() }
        var seconds = contenders.map { _ in [Double]() }
        for round in 0..<roundCount(rounds) {
            // Every other round the other way round, so that nobody always runs in the other's wake.
            let order = round.isMultiple(of: 2) ? Array(contenders.indices) : contenders.indices.reversed()
            for index in order {
                let time = try await ContinuousClock().measure { try await contenders[index]() }
                seconds[index].append(time.inSeconds)
            }
        }
        self.seconds = seconds
    }

    /// A contender's time by another's, in each round.
    public func ratios(_ own: Int = 0, by peer: Int = 1) -> Rounds { Rounds(seconds[own], by: seconds[peer]) }

    /// A contender's rate by another's, in each round.
    public func rateRatios(_ own: Int = 0, by peer: Int = 1) -> Rounds { ratios(peer, by: own) }

    /// The time that a contender takes longer than another, in each round.
    ///
    /// - Parameter scale: What a second counts as: for example, 1e6 by the number of repetitions in a round.
    public func differences(_ own: Int, minus peer: Int, scale: Double) -> Rounds {
        Rounds(zip(seconds[own], seconds[peer]).map { ($0 - $1) * scale })
    }
}

/// The number of rounds: of `count`, the part that `TARGETKIT_ROUNDS` says, at least 2. The report runs each benchmark
/// several times with a part of its rounds.
public func roundCount(_ count: Int) -> Int {
    let part = ProcessInfo.processInfo.environment["TARGETKIT_ROUNDS"].flatMap(Double.init) ?? 1
    return max(min(count, 2), min(count, Int((Double(count) * part).rounded())))
}

extension Duration {
    /// Seconds, with their fraction.
    public var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// Keeps the compiler from dropping work whose result nobody uses.
@inline(never)
@_optimize(none)
public func keep<Value>(_ value: Value) {}

/// A time in the unit that suits it.
public func timeText(_ seconds: Double) -> String {
    switch seconds {
    case ..<1e-6: "\(rounded(seconds * 1e9)) ns"
    case ..<1e-3: "\(rounded(seconds * 1e6)) µs"
    case ..<1: "\(rounded(seconds * 1e3)) ms"
    default: "\(rounded(seconds)) s"
    }
}

private func rounded(_ number: Double) -> String {
    number >= 100 ? "\(Int(number.rounded()))" : "\((number * 100).rounded() / 100)"
}
