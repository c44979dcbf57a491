// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Copies a JSON text (RFC 8259) and redacts the values of secret fields.
///
/// It reads byte by byte, so that it also redacts incomplete or invalid JSON, and JSON within other text (`data: {"token": …}`).
/// Other text is copied unchanged.
struct JSONRedactor {
    private let bytes: Data
    private let redaction: LogRedaction
    private let limit: Int
    private var index: Int
    private var copy: [UInt8] = []
    /// The keys that lead to this place. An array has none.
    private var names: [String] = []
    /// For each open object and array whether its current key is among the names.
    private var levels: [Bool] = []

    init(_ bytes: Data, redaction: LogRedaction, limit: Int) {
        self.bytes = bytes
        self.redaction = redaction
        self.limit = limit
        index = bytes.startIndex
    }

    /// The copy, and whether it was cut off at the limit.
    static func redacted(_ bytes: Data, by redaction: LogRedaction, limit: Int) -> (bytes: [UInt8], isCut: Bool) {
        var redactor = JSONRedactor(bytes, redaction: redaction, limit: limit)
        redactor.run()
        return (Array(redactor.copy.prefix(limit)), redactor.copy.count > limit || redactor.index < bytes.endIndex)
    }

    private mutating func run() {
        while index < bytes.endIndex, copy.count < limit {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                copyString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): levels.append(false)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): if levels.popLast() == true { names.removeLast() }
            default: break
            }
            copy.append(byte)
            index += 1
        }
    }

    private mutating func copyString() {
        let string = bytes[index..<endOfString(at: index)]
        append(string)
        index = string.endIndex
        let colon = skippingSpace(from: index)
        guard colon < bytes.endIndex, bytes[colon] == UInt8(ascii: ":") else { return }
        guard isSecret(LogRedaction.normalized(Self.text(of: string))) else { return }
        let value = skippingSpace(from: colon + 1)
        append(bytes[index..<value])
        append(Self.placeholder)
        index = endOfValue(at: value)
    }

    /// Enters the field of that name in the innermost object, and returns whether it is secret. Deeper than any key path only the
    /// name counts, so that deep nesting costs no more for each name.
    private mutating func isSecret(_ name: String) -> Bool {
        switch levels.last {
        case true?: names[names.count - 1] = name
        case false?:
            names.append(name)
            levels[levels.count - 1] = true
        case nil: return redaction.isSecret([name])
        }
        return redaction.isSecret(names.count > redaction.longestPath ? [name] : names)
    }

    private mutating func append(_ part: some Collection<UInt8>) {
        // One byte over the limit shows that the text was cut off.
        copy.append(contentsOf: part.prefix(max(0, min(limit, .max - 1) - copy.count) + 1))
    }

    private static let placeholder = Data("\"\(HeaderRedaction.placeholder)\"".utf8)

    private static func text(of string: Data) -> String {
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        return String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
    }

    private func endOfString(at start: Int) -> Int {
        var index = start + 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            default: index += 1
            }
        }
        return bytes.endIndex
    }

    private func endOfValue(at start: Int) -> Int {
        var index = start
        var depth = 0
        while index < bytes.endIndex {
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
        return bytes.endIndex
    }

    private func skippingSpace(from start: Int) -> Int {
        bytes[start...].firstIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } ?? bytes.endIndex
    }
}
