// SPDX-License-Identifier: MIT
import Foundation

/// An unmet expectation. Its description is the message for the test report.
package struct ExpectationFailure: LocalizedError, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// The description, which XCTest on Apple platforms reads from here.
    package var errorDescription: String? { description }
}
