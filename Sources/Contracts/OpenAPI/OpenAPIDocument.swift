// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// An OpenAPI document of version 3.0 or 3.1.
struct OpenAPIDocument: Sendable {
    let root: JSONValue
    /// In version 3.0, a reference hides adjacent members, and `nullable` and Boolean limits are used.
    let isVersion30: Bool

    init(_ data: Data) throws {
        do {
            root = try JSONValue(parsing: data)
        } catch {
            throw ExpectationFailure("the OpenAPI document isn't JSON; convert a YAML document first: \(error)")
        }
        if let version = root["swagger"].string {
            throw ExpectationFailure(
                "the document is Swagger \(version.excerpt(20)); convert it to OpenAPI 3 first, for example with "
                    + "converter.swagger.io"
            )
        }
        guard let version = root["openapi"].string else {
            throw ExpectationFailure("the document isn't an OpenAPI document, because it has no member openapi")
        }
        isVersion30 = version == "3.0" || version.hasPrefix("3.0.")
        guard isVersion30 || version == "3.1" || version.hasPrefix("3.1.") else {
            throw ExpectationFailure("OpenAPI \(version.excerpt(20)) isn't supported; use 3.0 or 3.1")
        }
    }

    /// Creates a document that consists only of a schema, in JSON Schema's current dialect.
    init(schema: JSONValue) {
        root = schema
        isVersion30 = false
    }

    /// The node of a reference; `nil` if it isn't in this document.
    func node(at reference: String) -> OpenAPINode? {
        guard let pointer = JSONPointer(reference: reference), let value = pointer.value(in: root) else { return nil }
        return OpenAPINode(value: value, pointer: pointer)
    }

    func node(at tokens: [String]) -> OpenAPINode? {
        let pointer = JSONPointer(tokens)
        return pointer.value(in: root).map { OpenAPINode(value: $0, pointer: pointer) }
    }

    /// Resolves the reference of a node. Other nodes are returned unchanged.
    ///
    /// - Throws: An error if the reference is unresolvable or circular.
    func resolved(_ node: OpenAPINode) throws -> OpenAPINode {
        var current = node
        for _ in 0..<32 {
            guard let reference = current.value.object?["$ref"]?.string else { return current }
            guard let next = self.node(at: reference) else {
                throw ExpectationFailure("#\(current.pointer.text): the document has no \(reference.excerpt(200))")
            }
            current = next
        }
        throw ExpectationFailure("#\(node.pointer.text): the reference is circular")
    }
}

/// A value of a document, with its location.
struct OpenAPINode: Sendable {
    let value: JSONValue
    let pointer: JSONPointer

    /// The member of an object; `nil` if there is none.
    subscript(key: String) -> OpenAPINode? {
        value.object?[key].map { OpenAPINode(value: $0, pointer: pointer.appending(key)) }
    }

    /// The members of an object in order; none for any other value.
    var members: [(key: String, node: OpenAPINode)] {
        (value.object ?? [:]).map { ($0.key, OpenAPINode(value: $0.value, pointer: pointer.appending($0.key))) }
    }

    /// The elements of an array; none for any other value.
    var elements: [OpenAPINode] {
        (value.array ?? []).enumerated().map { index, value in
            OpenAPINode(value: value, pointer: pointer.appending("\(index)"))
        }
    }
}
