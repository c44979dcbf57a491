// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// What the generated code doesn't express, each with its place and with what was written instead.
package struct Note: Sendable, Hashable {
    package let place: String
    /// The construct, for a count by construct.
    package let construct: String
    package let message: String

    package var line: String { "\(place): \(message)" }
}

/// Collects notes, each once.
final class Notes {
    private(set) var all: [Note] = []

    /// Notes a name of the document that Swift can't have, or that is taken.
    func addName(_ text: String, _ name: String, isTaken: Bool = false, at place: Place) {
        guard isTaken || !SwiftName.expresses(text) else { return }
        let reason = isTaken ? "the name is taken" : "Swift has no such name"
        let remedy = "Give it another one with `names`."
        add(place, "name", "“\(text)” is `\(name)`, because \(reason). \(remedy)")
    }

    private var seen: Set<Note> = []

    func add(_ place: Place, _ construct: String, _ message: String) {
        let note = Note(place: place.key, construct: construct, message: message)
        if seen.insert(note).inserted { all.append(note) }
    }
}

extension [Note] {
    /// The notes by what they say, in the order of the first of each.
    package var foldedByMessage: [[Note]] { grouped(by: \.message).map(\.elements) }
}
