// SPDX-License-Identifier: MIT
import TargetKit

/// A call that a cassette can't replay or record. The text contains no secret.
package struct CassetteError: Error, Sendable, LocalizedError, ReflectsDescription {
    /// The file, the problem and a remedy, on one or more lines.
    package let description: String

    init(_ lines: String...) {
        description = lines.joined(separator: "\n")
    }

    init(_ lines: [String]) {
        description = lines.joined(separator: "\n")
    }

    /// The description.
    package var errorDescription: String? { description }
}
