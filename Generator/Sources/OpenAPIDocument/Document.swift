// SPDX-License-Identifier: MIT
import Foundation

/// An OpenAPI document of version 3.0 or 3.1 and the files that it refers to.
package final class Document {
    package let root: Place
    /// The value of `openapi`.
    package let version: String
    private let folder: URL
    private var files: [String: Result<Node, DocumentError>]

    /// Reads a document.
    ///
    /// - Throws: ``DocumentError`` for a file that can't be read, isn't JSON or YAML, or is another kind of document.
    package init(contentsOf file: URL) throws(DocumentError) {
        let name = file.lastPathComponent
        folder = file.deletingLastPathComponent()
        let node = try Self.read(file, named: name)
        root = Place(node: node, file: name, pointer: "")
        files = [name: .success(node)]
        version = try Self.version(of: root)
        for member in ["paths", "components", "webhooks"] {
            guard let place = root[member], place.node.object == nil, place.node != .null else { continue }
            throw DocumentError(place, "`\(member)` must be an object, and is \(place.node.kind).")
        }
        guard root["paths"] != nil || root["components"] != nil || root["webhooks"] != nil else {
            throw DocumentError(root, "a document needs `paths`, `components` or `webhooks` (OpenAPI 3.1 §4.8.1).")
        }
    }

    private static func version(of root: Place) throws(DocumentError) -> String {
        guard let members = root.node.object else {
            throw DocumentError(root, "an OpenAPI document is an object, and this is \(root.node.kind).")
        }
        if let swagger = members["swagger"]?.scalarText {
            throw DocumentError(
                root.key + "/swagger",
                """
                Swagger \(swagger) is not supported. Convert the document to OpenAPI 3 first, for example with \
                `npx swagger2openapi` or at https://converter.swagger.io.
                """
            )
        }
        guard let version = members["openapi"]?.scalarText else {
            throw DocumentError(root, "`openapi` is missing; it names the version, for example “3.1.0”.")
        }
        guard version.hasPrefix("3.") else {
            throw DocumentError(root.key + "/openapi", "version “\(version)” is not supported, but 3.0 and 3.1 are.")
        }
        return version
    }

    private static func read(_ file: URL, named name: String) throws(DocumentError) -> Node {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw DocumentError(name, "the file can't be read: \(error.localizedDescription)")
        }
        var text = String(decoding: data, as: UTF8.self)
        if text.hasPrefix("\u{FEFF}") { text.removeFirst() }
        do {
            let first = text.unicodeScalars.first { !$0.properties.isWhitespace }
            guard first == "{" || first == "[" else { return try YAMLReader.read(text) }
            do {
                return try JSONReader.read(text)
            } catch {
                // YAML's flow style also begins with a brace.
                guard !name.hasSuffix(".json"), let node = try? YAMLReader.read(text) else { throw error }
                return node
            }
        } catch let error as SyntaxError {
            throw DocumentError("\(name):\(error.line):\(error.column)", "not valid JSON or YAML: \(error.message).")
        } catch {
            throw DocumentError(name, "not valid JSON or YAML: \(error)")
        }
    }
}

extension Document {
    /// The place that a reference names, relative to the file that contains it.
    ///
    /// - Throws: ``DocumentError`` if there is no such place.
    package func place(of reference: String, from origin: Place) throws(DocumentError) -> Place {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file = try fileName(String(parts.first ?? ""), from: origin)
        let node = try contents(of: file, for: origin)
        let fragment = parts.count > 1 ? String(parts[1]) : ""
        let pointer = fragment.removingPercentEncoding ?? fragment
        guard pointer.isEmpty || pointer.hasPrefix("/") else {
            guard let place = anchor(pointer, in: Place(node: node, file: file, pointer: ""), depth: 0) else {
                throw DocumentError(origin, "there is no `$anchor` named “\(pointer)” in \(file).")
            }
            return place
        }
        var place = Place(node: node, file: file, pointer: "")
        for token in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = Place.unescaped(String(token))
            // A pointer may lead through a reference.
            if place[name] == nil, place.string("$ref") != nil { place = try resolved(place) }
            if let next = place[name] {
                place = next
            } else if let index = Int(name), place.elements.indices.contains(index) {
                place = place.elements[index]
            } else {
                throw DocumentError(origin, "“\(reference)” refers to nothing: there is no “\(name)”.")
            }
        }
        return place
    }

    /// Follows references until there is none.
    package func resolved(_ place: Place) throws(DocumentError) -> Place {
        var place = place
        var seen: Set<String> = []
        while let reference = place.string("$ref") {
            guard seen.insert(place.key).inserted else {
                throw DocumentError(place, "“\(reference)” refers to itself.")
            }
            place = try self.place(of: reference, from: place)
        }
        return place
    }

    private func fileName(_ name: String, from origin: Place) throws(DocumentError) -> String {
        guard !name.isEmpty else { return origin.file }
        guard !name.contains("://") else {
            throw DocumentError(origin, "“\(name)” is on the network, and references to the network aren't followed.")
        }
        let name = name.removingPercentEncoding ?? name
        var parts = origin.file.split(separator: "/").dropLast().map(String.init)
        for part in name.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }

    private func contents(of file: String, for origin: Place) throws(DocumentError) -> Node {
        if files[file] == nil {
            let url = folder.appending(path: file)
            files[file] = Result { () throws(DocumentError) in try Self.read(url, named: file) }
        }
        switch files[file] {
        case .success(let node): return node
        case .failure(let error): throw DocumentError(origin, "refers to \(error)")
        case nil: throw DocumentError(origin, "refers to \(file), which can't be read.")
        }
    }

    private func anchor(_ name: String, in place: Place, depth: Int) -> Place? {
        guard depth < 64 else { return nil }
        if place.string("$anchor") == name || place.string("$dynamicAnchor") == name { return place }
        for member in place.members {
            if let found = anchor(name, in: member.place, depth: depth + 1) { return found }
        }
        for element in place.elements {
            if let found = anchor(name, in: element, depth: depth + 1) { return found }
        }
        return nil
    }
}
