// SPDX-License-Identifier: MIT
import TargetKit

/// Redacts the columns of a CSV body (RFC 4180) with secret names in the first record.
struct TableRedactor {
    private let bytes: [UInt8]
    private let redaction: Redaction
    private let separator: UInt8
    private var copy: [UInt8] = []

    /// The redacted copy; `nil` if no column is secret.
    static func redacted(_ data: Data, by redaction: Redaction) -> Data? {
        var redactor = TableRedactor(Array(data), redaction: redaction)
        return redactor.run() ? Data(redactor.copy) : nil
    }

    private init(_ bytes: [UInt8], redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
        // The separator in the first line, usually a comma.
        let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
        let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09]
        separator = separators.first(where: line.contains) ?? separators[0]
    }

    private mutating func run() -> Bool {
        var secrets: [Int] = []
        var (index, column, isHeader) = (0, 0, true)
        while index < bytes.count {
            let end = endOfField(at: index)
            if isHeader {
                let name = String(decoding: bytes[index..<end], as: UTF8.self)
                    .trimmingCharacters(in: CharacterSet(charactersIn: "\" \u{FEFF}"))
                if redaction.isSecret(name: name) { secrets.append(column) }
            }
            let isSecret = !isHeader && end > index && secrets.contains(column)
            copy += isSecret ? TextRedactor.placeholder[...] : bytes[index..<end]
            guard end < bytes.count else { break }
            copy.append(bytes[end])
            if bytes[end] == separator {
                column += 1
            } else {
                if secrets.isEmpty { return false }
                (column, isHeader) = (0, false)
            }
            index = end + 1
        }
        return !secrets.isEmpty
    }

    /// The index of the separator or line break after a field. A quoted field can contain both.
    private func endOfField(at start: Int) -> Int {
        var isQuoted = false
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, byte == separator || byte == 0x0A || byte == 0x0D { return index }
            index += 1
        }
        return index
    }
}
