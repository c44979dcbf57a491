// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The texts of values in the messages of failed tests: short, on one line, and without secrets.
enum MessageText {
    /// The longest value that is shown whole, in characters.
    private static let limit = 200
    private static let redaction = Redaction()

    /// The quoted texts, separated by commas.
    static func shown(_ values: [String], _ isSecret: Bool) -> String {
        if isSecret { return HeaderRedaction.placeholder }
        // A secret must be whole when it is redacted; what is far beyond the limit is not read.
        return values.map { value in
            "\"\(TextRedactor.redacted(value.excerpt(100 * limit), by: redaction).excerpt(limit).inOneLine)\""
        }
        .joined(separator: ", ")
    }

    /// The beginning of the JSON text, without the values of secret members.
    static func shown(_ value: JSONValue, _ isSecret: Bool) -> String {
        isSecret ? HeaderRedaction.placeholder : redacted(value).excerpt.inOneLine
    }

    /// The differences of two values that are not equal, by key path, without secrets.
    static func differences(_ expected: JSONValue, _ found: JSONValue, subject: String) -> [String] {
        let lines = JSONDifference.lines(redacted(expected), redacted(found), subject: subject)
        return lines.isEmpty ? ["\(subject): a secret differs"] : lines
    }

    /// The differences of two bodies that are not equal, without secrets.
    static func differences(_ expected: Data, _ found: Data, contentType: String?) -> [String] {
        func content(_ data: Data) -> BodyContent {
            BodyContent(redaction.body(data, contentType: contentType), contentType: contentType)
        }
        let lines = content(found).differences(from: content(expected))
        return lines.isEmpty ? ["body: a secret or the formatting differs"] : lines
    }

    private static func redacted(_ value: JSONValue) -> JSONValue {
        (try? JSONValue(parsing: redaction.body(value.jsonData(), contentType: "application/json"))) ?? value
    }
}

/// A number with its noun.
enum Plural {
    static func of(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

extension RecordedRequest {
    /// The method, the URL and the size of the body on one line, without the values of secrets.
    package var summary: String {
        var text = "\(method) \(Redaction().url(url.absoluteString).excerpt(500))"
        if !body.isEmpty { text += ", \(body.count) bytes" }
        if let target { text += " (\(target.name))" }
        return text.inOneLine
    }
}

extension RecordedRequest: RedactedDescription {
    /// The method, the URL and the size of the body on one line, without the values of secrets.
    package var redactedDescription: String { summary }
}
