// SPDX-License-Identifier: MIT
import _TargetKitSupport

extension StringProtocol {
    /// The elements of a list (RFC 9110 §5.6.1) of values that contain no commas, such as names.
    package var listElements: [Substring] {
        // By bytes, because a comma and a combining mark after it are one character.
        let elements = Substring(self).utf8.split(separator: UInt8(ascii: ","))
        return elements.map { Substring($0).trimmingSpaces }.filter { !$0.isEmpty }
    }
}
