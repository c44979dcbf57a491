// SPDX-License-Identifier: MIT
import Foundation

/// Takes apart the header lines of a response (RFC 9112 §5).
struct HeaderLines {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The fields in order. A line that starts with white space goes on with the one before it (obsolete line folding,
    /// RFC 9112 §5.2); a line without a colon is passed over.
    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for line in bytes.split(separator: 0x0A) {
            let isFolded = line.first == 0x20 || line.first == 0x09
            let line = trimmed(line)
            if isFolded, !line.isEmpty, let last = headers.fields.indices.last {
                headers.fields[last].value += " " + text(line)
            } else if let colon = line.firstIndex(of: 0x3A) {
                headers.add(text(line[..<colon]), value: text(trimmed(line[line.index(after: colon)...])))
            }
        }
        return headers
    }

    private func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }

    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(bytes: bytes, encoding: .utf8) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
