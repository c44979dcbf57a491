// SPDX-License-Identifier: MIT
import TargetKit

/// A difference of a value from a schema.
struct SchemaProblem: Sendable, Hashable {
    /// The place in the value.
    let place: JSONPointer
    /// The place of the keyword in the document.
    let keyword: JSONPointer
    /// What the keyword expects.
    let text: String
    /// Whether the message shows the value at the place.
    var showsValue = true

    /// The difference on one line.
    ///
    /// - Parameter body: The document of the place, with its secrets redacted.
    func line(in body: JSONValue) -> String {
        let place = place.tokens.isEmpty ? "the body" : self.place.text
        let found = showsValue ? ", found \(self.place.value(in: body)?.typedExcerpt ?? "nothing")" : ""
        return "\(place): \(text)\(found) (#\(keyword.text))".inOneLine
    }
}
