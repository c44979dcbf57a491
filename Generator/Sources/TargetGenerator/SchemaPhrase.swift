// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// How the documentation of a type refers to its schema, if the document has no description.
extension Place {
    /// A sentence for a schema.
    var schemaSentence: String {
        let phrase = schemaPhrase
        if phrase.hasPrefix("`") { return "The schema \(phrase)." }
        return phrase.prefix(1).uppercased() + phrase.dropFirst() + "."
    }

    /// The name of a schema, or what it describes if it has none.
    var schemaPhrase: String {
        let parts = pointer.split(separator: "/")
        return parts.isEmpty ? "`\(lastName)`" : Self.phrase(parts[...])
    }

    private static func phrase(_ parts: ArraySlice<Substring>) -> String {
        guard let last = parts.last else { return "the document" }
        let parent = parts.dropLast()
        switch (parent.last, last) {
        case ("properties", _), ("schemas", _): return "`\(unescaped(String(last)))`"
        case ("oneOf", _), ("anyOf", _): return "an alternative of " + phrase(parent.dropLast())
        case (_, "items"): return "an element of " + phrase(parent)
        case (_, "additionalProperties"): return "another member of " + phrase(parent)
        case (_, "schema"): return owner(of: parent)
        default: return "`\(unescaped(String(last)))`"
        }
    }

    /// What the media type or parameter with a schema belongs to.
    private static func owner(of parts: ArraySlice<Substring>) -> String {
        if let index = parts.lastIndex(of: "responses"), index + 1 < parts.endIndex {
            return "the body of the response `\(unescaped(String(parts[index + 1])))`"
        }
        let isBody = parts.contains("requestBody") || parts.contains("requestBodies")
        return isBody ? "the body of the request" : "a parameter"
    }
}
