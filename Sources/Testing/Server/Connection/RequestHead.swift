// SPDX-License-Identifier: MIT

import TargetKit

/// The parsed head of a request (RFC 9112 §3 and §5).
struct RequestHead {
    let method: String
    let target: String
    let httpVersion: String
    let headers: HTTPHeaders
    let raw: Data

    init(bytes: ArraySlice<UInt8>) throws {
        raw = Data(bytes)
        let lines = bytes.dropLast(4).split(separator: 10, omittingEmptySubsequences: false)
        let parts = Self.line(lines[lines.startIndex]).split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1.") else {
            throw RequestParser.Malformed(reason: "request line '\(Self.line(lines[lines.startIndex]))'", status: 400)
        }
        method = String(parts[0])
        target = String(parts[1])
        httpVersion = String(parts[2])
        headers = HTTPHeaders(try lines.dropFirst().map { try Self.field(Self.line($0)) })
    }

    /// Whether the body is chunked (RFC 9112 §6.3).
    var isChunked: Bool { headers.has("chunked", in: "Transfer-Encoding") }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    var expectsContinue: Bool { headers.has("100-continue", in: "expect") }

    /// The value of `Content-Length`; `nil` if there is none.
    var contentLength: Int? {
        get throws {
            let values = Set(headers.values(for: .contentLength))
            guard let value = values.first else { return nil }
            // `Int` would accept a sign.
            guard values.count == 1, value.utf8.allSatisfy(\.isDigit), let length = Int(value) else {
                throw RequestParser.Malformed(reason: "Content-Length \(values.sorted())", status: 400)
            }
            return length
        }
    }

    /// Parses a header line.
    static func field(_ line: String) throws -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, !line.hasPrefix(" ") else {
            throw RequestParser.Malformed(reason: "header line '\(line)'", status: 400)
        }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        return HTTPHeaders.Field(name: HTTPHeaderName(rawValue: String(line[..<colon])), value: value)
    }

    /// The bytes as UTF-8, or else as ISO-8859-1.
    static func string(_ bytes: ArraySlice<UInt8>) -> String {
        String(bytes: bytes, encoding: .utf8) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> String {
        string(bytes.last == 13 ? bytes.dropLast() : bytes)
    }
}

extension HTTPHeaders {
    /// Whether a comma-separated field contains a token, ignoring case (RFC 9110 §5.6.1).
    func has(_ token: String, in name: HTTPHeaderName) -> Bool {
        values(for: name).contains { value in
            value.lowercased().split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == token }
        }
    }

    /// The field lines in order, with unchanged spelling and without checks.
    var lines: String {
        fields.map { "\($0.name.rawValue): \($0.value)\r\n" }.joined()
    }
}
