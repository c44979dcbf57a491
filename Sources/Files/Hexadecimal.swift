// SPDX-License-Identifier: MIT

extension Sequence<UInt8> {
    /// The bytes in lowercase hexadecimal digits.
    package var hexadecimal: String {
        let digits: StaticString = "0123456789abcdef"
        let bytes = Array(self)
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits.utf8Start[Int(byte >> 4)]
                text[2 * index + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
