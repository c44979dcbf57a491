// SPDX-License-Identifier: MIT
import TargetKit

/// The position of a call among the calls being recorded, which determines the number of its files. The order is that
/// of the requests, not of the responses.
final class RecordingTurn: Sendable {
    fileprivate let number: Int
    private let turns: RecordingTurns

    fileprivate init(_ number: Int, of turns: RecordingTurns) {
        self.number = number
        self.turns = turns
    }

    deinit {
        end()
    }

    /// Returns the number for the call's files, which is the lowest unused one after the numbers of the previous calls.
    func fileNumber(taken: Set<Int>) -> Int { turns.fileNumber(for: number, taken: taken) }

    /// Ends the turn of a call that has been or won't be recorded.
    func end() {
        turns.end(number)
    }
}

/// The turns of a cassette's calls.
final class RecordingTurns: Sendable {
    private struct State: Sendable {
        var last = 0
        /// The active turns, each with the number reserved for its files.
        var reserved: [Int: Int?] = [:]
    }

    private let state = Locked(State())

    /// Starts the turn of a call.
    func begin() -> RecordingTurn {
        let number = state.withLock { state in
            state.last += 1
            state.reserved[state.last] = .some(nil)
            return state.last
        }
        return RecordingTurn(number, of: self)
    }

    fileprivate func end(_ turn: Int) {
        state.withLock { state in _ = state.reserved.removeValue(forKey: turn) }
    }

    fileprivate func fileNumber(for turn: Int, taken: Set<Int>) -> Int {
        state.withLock { state in
            // Previous calls that are still in flight receive lower numbers.
            var used = taken.union(state.reserved.values.compactMap { $0 })
            var number = 0
            for other in state.reserved.keys.sorted() where other <= turn {
                if let reserved = state.reserved[other] ?? nil, reserved > number, !taken.contains(reserved) {
                    number = reserved
                    continue
                }
                repeat { number += 1 } while used.contains(number)
                used.insert(number)
                state.reserved[other] = number
            }
            return number
        }
    }
}
