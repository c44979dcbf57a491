// SPDX-License-Identifier: MIT
import TargetKit

extension TextRedactor {
    /// A start tag of XML or HTML.
    private struct Tag {
        /// The element's name without its prefix.
        let name: String
        /// The name and value of each attribute, and the range of the value with its quotation marks.
        let attributes: [(name: String, value: String, range: Range<Int>)]
        /// The index after `>`.
        let end: Int
        /// Whether the element has no content.
        let isEmpty: Bool

        /// Whether an attribute names a field, as in `<input name="token" value="…">`.
        func namesSecret(_ redaction: Redaction) -> Bool {
            attributes.contains { attribute in
                ["name", "id", "key", "property"].contains(attribute.name) && redaction.isSecret(name: attribute.value)
            }
        }
    }

    /// Copies a start tag, and redacts its secret attributes and the content of a secret element. Copies `<` if there
    /// is no tag.
    mutating func copyMarkup() {
        guard let tag = tag(at: index) else { return copyByte() }
        let isNamed = tag.namesSecret(redaction)
        for attribute in tag.attributes {
            copyBytes(to: attribute.range.lowerBound)
            index = attribute.range.upperBound
            let isSecret =
                redaction.isSecret(name: attribute.name) && attribute.name != "key"
                || redaction.isToken(attribute.value.utf8, named: attribute.name)
            if isSecret || (isNamed && ["value", "content"].contains(attribute.name)) {
                append("\"\(SecretFields.placeholder)\"".utf8)
            } else {
                copyAttribute(attribute.range)
            }
        }
        copyBytes(to: tag.end)
        copyContent(of: tag, isNamed: isNamed)
    }

    private mutating func copyAttribute(_ range: Range<Int>) {
        let value = bytes[range]
        let text = String(decoding: value, as: UTF8.self)
        guard value.count > 7 else { return append(value) }
        // Without the quotation marks, so that it isn't read as a JSON string.
        let isQuoted = text.hasPrefix("\"") || text.hasPrefix("'")
        append(isQuoted ? text.dropFirst().dropLast() : text[...], of: range) { shown in
            Array((isQuoted ? "\"" + shown + "\"" : shown).utf8)
        }
    }

    private mutating func copyContent(of tag: Tag, isNamed: Bool) {
        let names = [nextElementName, tag.name].compactMap(\.self)
        nextElementName = nil
        guard !tag.isEmpty else { return }
        if Self.tagsOfNames.contains(tag.name), let name = nameOfNextElement(after: tag) {
            nextElementName = name
            return
        }
        let isSecret = isNamed || names.contains { redaction.isSecret(name: $0) }
        guard isSecret || names.contains(where: { Redaction.namesToken($0) }) else { return }
        let end = endOfContent(of: tag.name)
        guard isSecret || names.contains(where: { redaction.isToken(bytes[index..<end], named: $0) }) else { return }
        if bytes[index..<end].contains(where: { $0 > 0x20 }) { append(Self.placeholder) }
        index = end
    }

    private static let tagsOfNames: Set<String> = ["key", "name", "Key", "Name"]

    /// The content of an element that names the next element: a `key` in a property list, or a `name` before a `value`,
    /// as in XML-RPC.
    private func nameOfNextElement(after tag: Tag) -> String? {
        let ending = Array("</\(tag.name)>".utf8)
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: "<")), bytes[end...].starts(with: ending) else {
            return nil
        }
        let next = skippingSpace(from: end + ending.count)
        let types = ["string", "data", "integer", "real", "date", "array", "dict", "true", "false"]
        let values = tag.name == "key" ? types + ["value"] : ["value", "Value"]
        guard values.contains(where: { bytes[next...].starts(with: Array("<\($0)".utf8)) }) else { return nil }
        return String(decoding: bytes[index..<end], as: UTF8.self)
    }

    /// The start of the end tag with the element's name, or the end of the text.
    private func endOfContent(of name: String) -> Int {
        var place = index
        while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            if byte(at: start + 1) == UInt8(ascii: "/") {
                let nameEnd = bytes[(start + 2)...].firstIndex { !$0.isPartOfTagName } ?? bytes.count
                if Self.localName(bytes[(start + 2)..<nameEnd]) == name { return start }
            }
            place = start + 1
        }
        return bytes.count
    }

    private func tag(at start: Int) -> Tag? {
        guard byte(at: start + 1)?.isPartOfTagName == true else { return nil }
        var place = bytes[(start + 1)...].firstIndex { !$0.isPartOfTagName } ?? bytes.count
        let name = Self.localName(bytes[(start + 1)..<place])
        // `<https://…>` is a URL (RFC 3986, appendix C), and a JSON Web Token may stand between angle brackets too.
        guard !name.isEmpty, !SecretFields.isJWT(bytes[(start + 1)..<place]) else { return nil }
        var attributes: [(name: String, value: String, range: Range<Int>)] = []
        while let byte = byte(at: place) {
            if byte == UInt8(ascii: ">") {
                let isEmpty = bytes[place - 1] == UInt8(ascii: "/") || name == "input" || name == "meta"
                return Tag(name: name, attributes: attributes, end: place + 1, isEmpty: isEmpty)
            }
            if byte == UInt8(ascii: "<") { return nil }
            guard byte.isPartOfTagName else {
                place += 1
                continue
            }
            let nameEnd = bytes[place...].firstIndex { !$0.isPartOfTagName } ?? bytes.count
            let attribute = Self.localName(bytes[place..<nameEnd])
            place = skippingSpace(from: nameEnd)
            guard self.byte(at: place) == UInt8(ascii: "=") else { continue }
            let value = skippingSpace(from: place + 1)
            place = endOfAttribute(at: value)
            let text = String(decoding: bytes[value..<place], as: UTF8.self)
            attributes.append(
                (attribute, text.trimmingCharacters(in: CharacterSet(charactersIn: "\"'")), value..<place)
            )
        }
        return nil
    }

    private func endOfAttribute(at start: Int) -> Int {
        guard let first = byte(at: start) else { return start }
        guard first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") else {
            // Also stops at `<`, so that many unclosed tags aren't each read to the end of the text.
            return bytes[start...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
                ?? bytes.count
        }
        return bytes[(start + 1)...].firstIndex(of: first).map { $0 + 1 } ?? bytes.count
    }

    /// The name without its namespace prefix.
    private static func localName(_ name: ArraySlice<UInt8>) -> String {
        let start = name.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? name.startIndex
        return String(decoding: name[start...], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isPartOfTagName: Bool {
        (isPartOfFieldName && self != UInt8(ascii: "%") && self != UInt8(ascii: "$")) || self == UInt8(ascii: ":")
    }
}
