// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// An error that describes itself to developers in one line, which is also its `localizedDescription`.
protocol DescribedError: LocalizedError, DeveloperError, CustomStringConvertible {}

extension DescribedError {
    /// The description.
    public var errorDescription: String? { description }
}
