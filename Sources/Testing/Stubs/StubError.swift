// SPDX-License-Identifier: MIT
import TargetKit

/// An error in the configuration of a stub, which is a mistake in the test.
struct StubError: LocalizedError, CustomStringConvertible, DeveloperError {
    private let title: String
    private let lines: [String]

    init(_ title: String, lines: [String] = []) {
        self.title = title
        self.lines = lines
    }

    /// The message, with a line for each part.
    var description: String { ([title] + lines.map { "  \($0)" }).joined(separator: "\n") }

    /// The message on one line, which is part of the description of the call's error.
    var errorDescription: String? { ([title] + lines).joined(separator: " ") }
}
