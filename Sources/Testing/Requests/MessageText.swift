// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// Formats values for the messages of failed tests, on one short line without secrets.
package enum MessageText {
    /// The maximum length of a value in characters.
    private static let limit = 200
    private static let redaction = Redaction()

    /// The quoted strings, separated by commas.
    static func shown(_ values: [String], isSecret: Bool) -> String {
        if isSecret { return SecretFields.placeholder }
        // A secret must be complete for redaction. Text far beyond the limit isn't read.
        return values.map { value in
            "\"\(TextRedactor.redacted(value.excerpt(100 * limit), by: redaction).excerpt(limit).inOneLine)\""
        }
        .joined(separator: ", ")
    }

    /// The start of the JSON text, without the values of secret members.
    static func shown(_ value: JSONValue, isSecret: Bool) -> String {
        isSecret ? SecretFields.placeholder : redacted(value).excerpt.inOneLine
    }

    /// The value at a key path for messages, or the placeholder if it is a secret. Adjacent members can indicate this,
    /// as in `{"name": "password", "value": "…"}`.
    static func redacted(_ json: JSONValue, at path: JSONPath) -> JSONValue {
        let (document, keys) = json.outline(along: path.keys[...])
        var value = redacted(document)
        for key in keys {
            if let index = Int(key), let elements = value.array, elements.indices.contains(index) {
                value = elements[index]
            } else {
                value = value.object?[key] ?? .string(SecretFields.placeholder)
            }
        }
        return value
    }

    /// The differences between two values by key path, without secrets.
    static func differences(_ expected: JSONValue, found: JSONValue, subject: String) -> [String] {
        let size = max(expected.jsonData().count, found.jsonData().count)
        guard size <= BodyContent.comparisonLimit else {
            let path = JSONDifference.firstPath(expected, found: found)
            return [
                "\(subject): the first difference is at \(path.isEmpty ? "the value itself" : path) (\(size) bytes)"
            ]
        }
        let lines = JSONDifference.lines(redacted(expected), found: redacted(found), subject: subject)
        return lines.isEmpty ? ["\(subject): a secret differs"] : lines
    }

    /// The differences between two bodies, without secrets.
    static func differences(_ expected: Data, found: Data, contentType: String?) -> [String] {
        if let sizes = BodyContent.sizeDifference(expected, found: found) { return sizes }
        func content(_ data: Data) -> BodyContent {
            BodyContent(redaction.body(data, contentType: contentType), contentType: contentType)
        }
        let lines = content(found).differences(from: content(expected))
        return lines.isEmpty ? ["body: a secret or the formatting differs"] : lines
    }

    /// The value without the values of secret members.
    package static func redacted(_ value: JSONValue) -> JSONValue {
        (try? JSONValue(parsing: redaction.body(value.jsonData(), contentType: "application/json"))) ?? value
    }
}

extension JSONValue {
    /// The maximum length of strings beside the key path.
    private static let textLimit = 1_000

    /// The part of the document that determines whether the value at a key path is a secret, with the keys of the value
    /// in it, so that a large document isn't processed completely.
    fileprivate func outline(along keys: ArraySlice<String>) -> (document: JSONValue, keys: [String]) {
        guard let key = keys.first else { return (self, []) }
        switch self {
        case .object(let object):
            guard let member = object[key] else { return (self, []) }
            let (part, rest) = member.outline(along: keys.dropFirst())
            var outline: JSONObject = [:]
            for (name, value) in object {
                if name == key { outline[name] = part } else if value.isShort { outline[name] = value }
            }
            return (.object(outline), [key] + rest)
        case .array(let elements):
            guard let index = JSONPath.index(key), elements.indices.contains(index) else { return (self, []) }
            let (part, rest) = elements[index].outline(along: keys.dropFirst())
            return (.array([part]), ["0"] + rest)
        default: return (self, [])
        }
    }

    private var isShort: Bool {
        switch self {
        case .object, .array: false
        case .string(let text): text.utf8.count <= Self.textLimit
        default: true
        }
    }
}

/// A number with its noun.
package enum Plural {
    package static func of(_ count: Int, noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

extension RecordedRequest {
    /// The method, URL and body size on one line, without secret values.
    package var summary: String {
        var text = "\(method) \(Redaction().url(url.absoluteString).excerpt(500))"
        if !body.isEmpty { text += ", \(body.count) bytes" }
        if let target { text += " (\(target.name))" }
        return text.inOneLine
    }

    /// The method, URL and body size on one line, without secret values.
    package var redactedDescription: String { summary }
}
