// SPDX-License-Identifier: MIT
import Foundation

/// Data that an expectation compares as one value. If two `Data` differ, Swift Testing computes the difference of their
/// bytes on a thread that other tests wait for. 8 KB of random bytes take 1.2 s, and twice as many take four times as long.
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
