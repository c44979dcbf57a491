// SPDX-License-Identifier: MIT
import Foundation

extension JSONEncoder {
    /// The JSON of a value with its keys sorted, so that equal values give equal bytes: without it a dictionary's keys come in
    /// another order each time.
    ///
    /// The encoder stays as it is, since others may be using it: where it does not sort keys, one with the same settings does.
    /// A subclass encodes by itself.
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
