// SPDX-License-Identifier: MIT
import Foundation

extension JSONEncoder {
    /// The value as JSON with sorted keys, so that equal values give equal bytes: otherwise the order of a dictionary's
    /// keys varies.
    ///
    /// The encoder itself is not changed, because other code may be using it: if it does not sort keys, a copy of its
    /// settings is used. A subclass of `JSONEncoder` is used as it is.
    func encodeWithSortedKeys(_ value: some Encodable) throws -> Data {
        guard type(of: self) == JSONEncoder.self, !outputFormatting.contains(.sortedKeys) else {
            return try encode(value)
        }
        let sorting = JSONEncoder()
        sorting.outputFormatting = outputFormatting.union(.sortedKeys)
        sorting.dateEncodingStrategy = dateEncodingStrategy
        sorting.dataEncodingStrategy = dataEncodingStrategy
        sorting.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        sorting.keyEncodingStrategy = keyEncodingStrategy
        sorting.userInfo = userInfo
        return try sorting.encode(value)
    }
}
