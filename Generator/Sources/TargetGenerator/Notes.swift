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
    private var seen: Set<Note> = []

    func add(_ place: Place, _ construct: String, _ message: String) {
        let note = Note(place: place.key, construct: construct, message: message)
        if seen.insert(note).inserted { all.append(note) }
    }
}
