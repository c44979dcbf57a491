// SPDX-License-Identifier: MIT
import Foundation

/// An expectation that was not met. Its description is the message for the test's report.
struct ExpectationFailure: LocalizedError, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The description, which XCTest on Apple platforms reads from here.
    var errorDescription: String? { description }
}
