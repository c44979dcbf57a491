// SPDX-License-Identifier: MIT

/// Why a document cannot be used: the place, the rule, and what to do.
package struct DocumentError: Error, CustomStringConvertible {
    package let place: String
    package let message: String

    package init(_ place: String, _ message: String) {
        (self.place, self.message) = (place, message)
    }

    package init(_ place: Place, _ message: String) {
        self.init(place.key, message)
    }

    package var description: String { "\(place): \(message)" }
}
