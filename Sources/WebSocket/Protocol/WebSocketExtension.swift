// SPDX-License-Identifier: MIT
import TargetKit

/// An element of `Sec-WebSocket-Extensions` (RFC 6455 §9.1).
package struct WebSocketExtension: Sendable, Hashable {
    package struct Parameter: Sendable, Hashable, CustomStringConvertible {
        /// The name in lowercase.
        var name: String
        /// The value without quotes; `nil` if there is none.
        var value: String?

        package var description: String { value.map { "\(name)=\($0)" } ?? name }
    }

    /// The name in lowercase.
    var name: String
    var parameters: [Parameter]

    /// Parses the values of the fields.
    ///
    /// - Returns: `nil` if a value is invalid.
    package static func list(_ values: [String]) -> [Self]? {
        var scanner = ExtensionScanner(values.joined(separator: ","))
        var list: [Self] = []
        repeat {
            // A list may have empty elements (RFC 9110 §5.6.1.2).
            if scanner.isAtSeparator { continue }
            guard let element = scanner.element() else { return nil }
            list.append(element)
        } while scanner.skip(",")
        return scanner.isAtEnd ? list : nil
    }
}

/// Reads tokens and quoted strings (RFC 9110 §5.6).
private struct ExtensionScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return rest.isEmpty
        }
    }

    var isAtSeparator: Bool {
        mutating get {
            skipSpace()
            return rest.isEmpty || rest.first == UInt8(ascii: ",")
        }
    }

    mutating func element() -> WebSocketExtension? {
        guard let name = token() else { return nil }
        var result = WebSocketExtension(name: name.lowercased(), parameters: [])
        while skip(";") {
            guard let name = token() else { return nil }
            var parameter = WebSocketExtension.Parameter(name: name.lowercased())
            if skip("=") {
                guard let value = quotedString() ?? token() else { return nil }
                parameter.value = value
            }
            result.parameters.append(parameter)
        }
        return result
    }

    /// Skips white space and a character, and returns whether the character was present.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard let byte = rest.first, UInt32(byte) == character.value else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func token() -> String? {
        skipSpace()
        let text = String(Substring(rest.prefix { !" \t,;=\"".utf8.contains($0) }))
        guard text.isToken else { return nil }
        rest.removeFirst(text.utf8.count)
        return text
    }

    private mutating func quotedString() -> String? {
        guard skip("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { return nil }
                bytes.append(next)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }
}
