// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The texts of values in the messages of failed tests: short, on one line, and without secrets.
enum MessageText {
    /// The longest value that is shown whole, in characters.
    private static let limit = 200

    /// "expected …, found …", with texts that ``shown(_:_:)`` has returned.
    static func difference(_ expected: String, _ found: String?) -> String {
        "expected \(expected), found \(found ?? "none")"
    }

    /// The text, cut after 200 characters.
    static func cut(_ text: String) -> String {
        let short = text.prefix(limit)
        if short.endIndex == text.endIndex { return text.inOneLine }
        return "\(String(short).inOneLine)… (\(text.utf8.count) bytes)"
    }

    /// The quoted texts, separated by commas.
    static func shown(_ values: [String], _ isSecret: Bool) -> String {
        isSecret ? HeaderRedaction.placeholder : values.map { "\"\(cut($0))\"" }.joined(separator: ", ")
    }

    /// The JSON text, without the values of secret members.
    static func shown(_ value: JSONValue, _ isSecret: Bool) -> String {
        if isSecret { return HeaderRedaction.placeholder }
        return cut(String(decoding: value.redacted.jsonData(), as: UTF8.self))
    }
}

extension JSONValue {
    /// The value with the members whose names are those of secrets replaced.
    fileprivate var redacted: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.redacted))
        case .object(var object):
            .object(
                {
                    for (key, value) in object {
                        object[key] =
                            SecretFields.isSecret(key) ? .string(HeaderRedaction.placeholder) : value.redacted
                    }
                    return object
                }()
            )
        default: self
        }
    }
}

extension RecordedRequest {
    /// The method, the URL and the size of the body on one line, without the values of secrets.
    package var summary: String {
        var text = "\(method) \(RedactedURL(url))"
        if let query = url.query(percentEncoded: true) { text += "?" + SecretFields.redacted(query: query[...]) }
        if !body.isEmpty { text += ", \(body.count) bytes" }
        if let target { text += " (\(target.name))" }
        return text.inOneLine
    }
}
