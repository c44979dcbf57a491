// SPDX-License-Identifier: MIT
import TargetKit

// Values of more than one line.
extension TextRedactor {
    /// The text between the boundaries of a private key (RFC 7468 §10), without leading and trailing white space.
    /// Extends to the end of the bytes if the second boundary is missing; `nil` if no key starts here.
    func privateKey(at start: Int) -> Range<Int>? {
        guard !redaction.isNone, bytes[start...].starts(with: Self.keyBeginning) else { return nil }
        let label = bytes[(start + Self.keyBeginning.count)...].prefix { $0 == 0x20 || (0x41...0x5A).contains($0) }
        guard String(decoding: label, as: UTF8.self).contains("PRIVATE KEY") else { return nil }
        let content = skippingSpace(from: bytes[label.endIndex...].firstIndex { !$0.isHyphen } ?? bytes.count)
        var index = content
        while let hyphen = bytes[index...].firstIndex(where: \.isHyphen) {
            if bytes[hyphen...].starts(with: Self.keyEnding) {
                let end = bytes[content..<hyphen].lastIndex { $0 > 0x20 }
                return content..<(end.map { $0 + 1 } ?? content)
            }
            index = hyphen + 1
        }
        return content..<bytes.count
    }

    private static let keyBeginning = Array("-----BEGIN ".utf8)
    private static let keyEnding = Array("-----END ".utf8)

    /// The end of the indented lines that are the value of a name, as in YAML after `name: |` or a line that ends with
    /// the colon; `nil` if the value is in the line of the name.
    ///
    /// - Parameter end: The end of the name's line.
    func endOfBlock(from end: Int, valueAt value: Int, nameAt name: Int) -> Int? {
        guard let lineBreak = byte(at: end), lineBreak == 0x0A || lineBreak == 0x0D, isBlockHeader(value..<end) else {
            return nil
        }
        let column = column(of: name)
        var (last, index) = (end, skippingLineBreak(from: end))
        while index < bytes.count {
            let text = skippingBlanks(from: index)
            let next = endOfLine(from: text)
            let isBlank = text >= bytes.count || bytes[text] == 0x0A || bytes[text] == 0x0D
            if !isBlank {
                // The items of a list can have the indentation of the list's name.
                let isItem = value == end && bytes[text].isHyphen && byte(at: text + 1) == 0x20
                guard text - index > column || (isItem && text - index == column) else { break }
                last = bytes[text..<next].lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? next
            } else if value == end, last == end {
                // This is prose, a paragraph that ends with a colon.
                break
            }
            index = next
        }
        return last > end ? last : nil
    }

    /// Whether the rest of a name's line shows that the value is in the following lines: it is empty, `|` or `>` (YAML
    /// 1.2 §8.1.1).
    private func isBlockHeader(_ range: Range<Int>) -> Bool {
        guard let first = bytes[range].first else { return true }
        return (first == UInt8(ascii: "|") || first == UInt8(ascii: ">"))
            && bytes[range].dropFirst().allSatisfy { "+-123456789 ".utf8.contains($0) }
    }

    /// The number of bytes before a name, or before the first other text of its line.
    private func column(of name: Int) -> Int {
        let start = bytes[..<name].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        var index = start
        while index < name, bytes[index] == 0x20 || (bytes[index].isHyphen && byte(at: index + 1) == 0x20) {
            index += 1
        }
        return index - start
    }

    private func skippingLineBreak(from start: Int) -> Int {
        let isReturn = byte(at: start) == 0x0D
        return isReturn && byte(at: start + 1) == 0x0A ? start + 2 : min(start + 1, bytes.count)
    }

    /// The start of the next line.
    private func endOfLine(from start: Int) -> Int {
        bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D }.map(skippingLineBreak) ?? bytes.count
    }
}

extension UInt8 {
    fileprivate var isHyphen: Bool { self == UInt8(ascii: "-") }
}
