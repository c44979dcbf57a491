// SPDX-License-Identifier: MIT
import Foundation

/// Data that an expectation compares as one value. If two `Data` differ, Swift Testing computes the difference of all
/// their bytes, which takes minutes for 300 KB, and a thread that other tests wait for.
package struct WholeData: Equatable, CustomStringConvertible {
    private let data: Data

    fileprivate init(_ data: Data) {
        self.data = data
    }

    /// The number of bytes, and the first of them.
    package var description: String {
        let start = data.prefix(16).map { String(format: "%02x", $0) }.joined()
        return "\(data.count) bytes from \(start)"
    }
}

extension Data {
    /// The data as one value, for an expectation about more than 100 KB.
    package var whole: WholeData { WholeData(self) }
}
