// SPDX-License-Identifier: MIT
import TargetKit

extension TextRedactor {
    /// Copies a string. If it is the name of a secret member, redacts its value.
    mutating func copyString() {
        let end = endOfString(at: index)
        let colon = skippingSpace(from: end)
        guard byte(at: colon) == UInt8(ascii: ":") else {
            if let value = valueOfPair(after: end) {
                copyBytes(to: value)
                append(Self.quoted(SecretFields.placeholder))
                index = endOfValue(at: value)
                return
            }
            return copyText(to: end)
        }
        let name = text(ofString: index..<end)
        let value = skippingSpace(from: colon + 1)
        let isSecret =
            enter(name, valueAt: value) && !isPublic(valueAt: value, of: name)
            || Redaction.namesToken(name) && redaction.isToken((string(at: value) ?? "").utf8, named: name)
        copyBytes(to: isSecret ? value : colon + 1)
        guard isSecret else { return }
        append(Self.quoted(SecretFields.placeholder))
        index = endOfValue(at: value)
    }

    /// The start of the value in a nested array of two elements, if the preceding element is a secret name, as in
    /// `[["token", "…"]]`.
    private func valueOfPair(after end: Int) -> Int? {
        let comma = skippingSpace(from: end)
        guard byte(at: comma) == UInt8(ascii: ","), levels.suffix(2).map(\.isArray) == [true, true],
            bytes[..<index].last(where: { $0 > 0x20 }) == UInt8(ascii: "["), isSecret(text(ofString: index..<end))
        else { return nil }
        let value = skippingSpace(from: comma + 1)
        // Excludes objects and arrays, so that nested values aren't read again at each level.
        guard let first = byte(at: value), first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        let next = byte(at: skippingSpace(from: endOfValue(at: value)))
        return next == nil || next == UInt8(ascii: "]") ? value : nil
    }

    /// Copies a string, and redacts the secrets in it.
    private mutating func copyText(to end: Int) {
        defer { index = end }
        guard end - index > 7 else { return append(bytes[index..<end]) }
        append(text(ofString: index..<end), of: index..<end, Self.quoted)
    }

    /// Enters the field with that name in the innermost object, and returns whether it is secret. At a level below all
    /// key paths, only the name is compared, so deep nesting doesn't increase the cost per name.
    private mutating func enter(_ name: String, valueAt value: Int) -> Bool {
        let isSecret = isSecret(name)
        guard let level = levels.indices.last else { return isSecret }
        let normalized = SecretFields.normalized(name)
        if levels[level].hasName {
            names[names.count - 1] = normalized
        } else {
            names.append(normalized)
            levels[level].hasName = true
        }
        if Self.namesOfName.contains(normalized), let other = string(at: value), redaction.isSecret(name: other) {
            levels[level].isValueSecret = true
            return false
        }
        if Self.namesOfValue.contains(normalized) {
            return isSecret || levels[level].isValueSecret || isNamedSecret(after: value)
        }
        // For example, `{"key": "color", "value": "red"}`.
        if normalized == "key", let next = key(after: value), Self.namesOfValue.contains(next.name) { return false }
        return isSecret || (names.count <= redaction.longestPath && redaction.isSecret(path: names))
    }

    private static let namesOfName: Set<String> = [
        "name", "key", "field", "header", "param", "parameter", "property", "attribute", "type", "id", "k", "n",
    ]
    private static let namesOfValue: Set<String> = ["value", "values", "val", "v"]

    private func isSecret(_ name: String) -> Bool {
        isOAuth ? redaction.isSecret(parameter: name) : redaction.isSecret(name: name)
    }

    /// Whether the member after a value contains the name of a secret.
    private func isNamedSecret(after value: Int) -> Bool {
        guard let next = key(after: value), Self.namesOfName.contains(next.name) else { return false }
        return string(at: next.value).map { redaction.isSecret(name: $0) } ?? false
    }

    /// The normalized key of the member after a value, and the start of that member's value.
    private func key(after value: Int) -> (name: String, value: Int)? {
        // Excludes objects and arrays, so that nested values aren't read again at each level.
        guard let first = byte(at: value), first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return nil }
        let comma = skippingSpace(from: endOfValue(at: value))
        guard byte(at: comma) == UInt8(ascii: ",") else { return nil }
        let start = skippingSpace(from: comma + 1)
        guard byte(at: start) == UInt8(ascii: "\"") else { return nil }
        let end = endOfString(at: start)
        let colon = skippingSpace(from: end)
        guard byte(at: colon) == UInt8(ascii: ":") else { return nil }
        return (SecretFields.normalized(text(ofString: start..<end)), skippingSpace(from: colon + 1))
    }

    /// Whether a value can't be a secret: `true`, `false`, `null`, or a count such as `"tokens": 12`.
    private func isPublic(valueAt start: Int, of name: String) -> Bool {
        guard let first = byte(at: start), first != UInt8(ascii: "\"") else { return false }
        let value = bytes[start..<endOfValue(at: start)]
        if ["true", "false", "null"].contains(where: { value.elementsEqual($0.utf8) }) { return true }
        return name.hasSuffix("s") && !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }
    }

    private func string(at start: Int) -> String? {
        byte(at: start) == UInt8(ascii: "\"") ? text(ofString: start..<endOfString(at: start)) : nil
    }

    private func text(ofString range: Range<Int>) -> String {
        let string = bytes[range]
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        let isClosed = string.count > 1 && string.last == string.first
        return String(decoding: string.dropFirst().dropLast(isClosed ? 1 : 0), as: UTF8.self)
    }

    private static func quoted(_ text: String) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { Array($0) } ?? Array("\"\(SecretFields.placeholder)\"".utf8)
    }

    private func endOfValue(at start: Int) -> Int {
        var index = start
        var depth = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(at: index)
                if depth == 0 { return index }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return index }
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return index }
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}
