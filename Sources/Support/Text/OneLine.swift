// SPDX-License-Identifier: MIT

extension String {
    /// The text in one line, with terminal control characters escaped, for example as `\u{1B}`.
    package var inOneLine: String {
        // Most strings are printable ASCII.
        if ContiguousText.read(self, body: { $0.allSatisfy { (0x20..<0x7F).contains($0) } }) { return self }
        guard unicodeScalars.contains(where: \.isEscaped) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isEscaped {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// C0 and C1 controls, line and paragraph separators, and bidirectional controls (UAX #9 §2), which can reorder a
    /// line.
    fileprivate var isEscaped: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
