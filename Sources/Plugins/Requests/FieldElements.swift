// SPDX-License-Identifier: MIT
import TargetKit

extension FieldParser {
    /// Skips text up to a separator outside quoted strings.
    mutating func skipElement(before separator: Unicode.Scalar) {
        repeat { _ = text(before: "\"\(separator)") } while quotedString() != nil
    }
}

extension StringProtocol {
    /// The elements between separators outside quoted strings, without the white space around them.
    package func elements(separatedBy separator: Unicode.Scalar) -> [Substring] {
        let text = Substring(self)
        var parser = FieldParser(text)
        var elements: [Substring] = []
        repeat {
            let start = parser.index
            parser.skipElement(before: separator)
            elements.append(text[start..<parser.index].trimmingSpaces)
        } while parser.skip(separator)
        return elements
    }
}
