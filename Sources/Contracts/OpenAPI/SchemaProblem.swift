// SPDX-License-Identifier: MIT
import TargetKitTesting

/// A difference between a value and a schema.
struct SchemaProblem: Sendable, Hashable {
    /// The location in the value.
    let place: JSONPointer
    /// The location of the keyword in the document.
    let keyword: JSONPointer
    /// The expectation of the keyword.
    let text: String
    /// Whether the message shows the value.
    var showsValue = true

    /// The difference on one line.
    ///
    /// - Parameter body: The document with the value, with secrets redacted.
    func line(in body: JSONValue) -> String {
        let place = place.tokens.isEmpty ? "the body" : self.place.text
        let found = showsValue ? ", found \(self.place.value(in: body)?.typedExcerpt ?? "nothing")" : ""
        return "\(place): \(text)\(found) (#\(keyword.text))".inOneLine
    }
}
