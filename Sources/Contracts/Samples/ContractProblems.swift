// SPDX-License-Identifier: MIT
import TargetKitTesting

/// The problems that a check finds, for each target.
struct ContractProblems {
    private var lines: [String] = []

    mutating func add(_ problems: [String], of target: some TargetType) {
        let name = MultiTarget(target).target.name
        lines += problems.map { "\(name): \($0)" }
    }

    /// Throws one error with all problems, one line each.
    func throwIfAny() throws {
        guard !lines.isEmpty else { return }
        let text = lines.map { "\n  " + $0.replacingOccurrences(of: "\n", with: "\n  ") }
        throw ExpectationFailure(Plural.of(lines.count, noun: "problem") + ":" + text.joined())
    }

    /// The text of an error without the name of the target, which precedes each line.
    static func text(_ error: any Error, of target: some TargetType) -> String {
        let text = "\(error)"
        let prefix = MultiTarget(target).target.name + ": "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}
