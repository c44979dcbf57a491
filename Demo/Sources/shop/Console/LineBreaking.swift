// SPDX-License-Identifier: MIT

/// Breaks text into lines for a terminal.
enum LineBreaking {
    /// The number of columns of a text: Chinese characters and full-width signs take two.
    static func width(of text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + width(of: $1) }
    }

    private static func width(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60,
            0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// The text in lines of at most so many columns, broken after a space where there is one.
    static func lines(of text: String, columns: Int) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        while width(of: rest) > columns {
            let line = prefix(of: rest, columns: columns)
            let end = line.lastIndex(of: " ").map { line.index(after: $0) } ?? line.endIndex
            lines.append(String(rest[..<end]))
            rest = rest[end...]
        }
        return lines + [String(rest)]
    }

    /// The longest start of a text that fits, at least one character.
    private static func prefix(of text: Substring, columns: Int) -> Substring {
        var used = 0
        let end = text.indices.first { index in
            used += width(of: text[index])
            return used > columns && index != text.startIndex
        }
        return text[..<(end ?? text.endIndex)]
    }
}
