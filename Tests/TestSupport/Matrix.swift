// SPDX-License-Identifier: MIT
import Foundation

/// The rows of a test that has many of them: all if `TARGETKIT_MATRIX` is set, as in `.ci/run --all`, some otherwise.
package enum Matrix {
    package static let isWhole = ProcessInfo.processInfo.environment["TARGETKIT_MATRIX"] != nil

    /// One of each few rows.
    package static func rows<Row>(_ rows: [Row], oneOf count: Int) -> [Row] {
        isWhole ? rows : rows.enumerated().filter { $0.offset.isMultiple(of: count) }.map(\.element)
    }

    /// Pairs in which each value of both lists occurs, if the second list is the shorter one.
    package static func pairs<First, Second>(_ first: [First], _ second: [Second]) -> [(First, Second)] {
        first.enumerated().flatMap { index, value in
            isWhole ? second.map { (value, $0) } : [(value, second[index % second.count])]
        }
    }
}
