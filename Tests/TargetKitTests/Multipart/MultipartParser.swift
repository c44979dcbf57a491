// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Reads a form back as a server does, written from RFC 2046 §5.1.1 and RFC 7578 and sharing nothing with what wrote
/// it.
struct MultipartParser {
    struct Part: Equatable {
        var headers: [[String]]
        var content: Data

        /// The parameter of Content-Disposition as it stands between its quotes.
        func parameter(_ name: String) -> String? {
            guard let disposition = headers.first(where: { $0[0].lowercased() == "content-disposition" }) else {
                return nil
            }
            guard let start = disposition[1].range(of: "; \(name)=\"") else { return nil }
            let rest = disposition[1][start.upperBound...]
            return rest.range(of: "\"").map { String(rest[..<$0.lowerBound]) }
        }

        func header(_ name: String) -> String? {
            headers.first { $0[0].lowercased() == name.lowercased() }?[1]
        }
    }

    struct Malformed: Error {
        var reason: String
    }

    static func parse(_ body: Data, contentType: String) throws -> [Part] {
        let prefix = "multipart/form-data; boundary="
        guard contentType.hasPrefix(prefix) else { throw Malformed(reason: "no boundary in \(contentType)") }
        let boundary = contentType.dropFirst(prefix.count).trimmingCharacters(in: ["\""])
        let delimiter = Data("\r\n--\(boundary)".utf8)
        // The first delimiter has no line end of its own before it.
        let text = Data("\r\n".utf8) + body
        var parts: [Part] = []
        guard var mark = text.range(of: delimiter), mark.lowerBound == 0 else { throw Malformed(reason: "preamble") }
        while true {
            let rest = text[mark.upperBound...]
            if rest.starts(with: Data("--".utf8)) {
                guard rest.dropFirst(2) == Data("\r\n".utf8) else { throw Malformed(reason: "epilogue") }
                return parts
            }
            guard rest.starts(with: Data("\r\n".utf8)) else { throw Malformed(reason: "no line end after boundary") }
            guard let next = text.range(of: delimiter, in: mark.upperBound..<text.endIndex) else {
                throw Malformed(reason: "no closing boundary")
            }
            parts.append(try part(text[mark.upperBound + 2..<next.lowerBound]))
            mark = next
        }
    }

    private static func part(_ bytes: Data) throws -> Part {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { throw Malformed(reason: "no blank line") }
        guard let head = String(data: bytes[..<end.lowerBound], encoding: .utf8) else {
            throw Malformed(reason: "not UTF-8")
        }
        let headers = try head.components(separatedBy: "\r\n").map { line in
            guard let colon = line.range(of: ": ") else { throw Malformed(reason: "no colon in \(line)") }
            return [String(line[..<colon.lowerBound]), String(line[colon.upperBound...])]
        }
        return Part(headers: headers, content: Data(bytes[end.upperBound...]))
    }
}
