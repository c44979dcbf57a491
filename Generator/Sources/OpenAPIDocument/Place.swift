// SPDX-License-Identifier: MIT

/// A value of a document and its place: the file and the JSON pointer (RFC 6901).
package struct Place: Sendable {
    package let node: Node
    /// The file's path as the user named it, or as a reference did.
    package let file: String
    /// The JSON pointer, empty for the whole file.
    package let pointer: String

    package init(node: Node, file: String, pointer: String) {
        (self.node, self.file, self.pointer) = (node, file, pointer)
    }

    /// Identifies the place among all files.
    package var key: String { file + "#" + pointer }

    /// The last part of the pointer, unescaped; for a whole file, the file's name without its extension.
    package var lastName: String {
        if let last = pointer.split(separator: "/").last { return Self.unescaped(String(last)) }
        let name = file.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }

    /// The member's place; `nil` if there is none.
    package subscript(name: String) -> Place? {
        guard let value = node.object?[name] else { return nil }
        return Place(node: value, file: file, pointer: pointer + "/" + Self.escaped(name))
    }

    /// The places of all members, in the document's order.
    package var members: [(name: String, place: Place)] {
        guard let object = node.object else { return [] }
        return object.pairs.map { name, value in
            (name, Place(node: value, file: file, pointer: pointer + "/" + Self.escaped(name)))
        }
    }

    /// The places of all elements.
    package var elements: [Place] {
        (node.array ?? []).enumerated().map { index, element in
            Place(node: element, file: file, pointer: "\(pointer)/\(index)")
        }
    }

    package func string(_ name: String) -> String? { node.object?[name]?.string }

    /// A member that is true, in JSON or as the text `"true"`.
    package func flag(_ name: String) -> Bool {
        let value = node.object?[name]
        return value?.bool ?? (value?.string == "true")
    }

    package static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        var text = ""
        for character in name {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
        return text
    }

    package static func unescaped(_ token: String) -> String {
        guard token.utf8.contains(UInt8(ascii: "~")) else { return token }
        return token.replacing("~1", with: "/").replacing("~0", with: "~")
    }
}
