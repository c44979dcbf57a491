// SPDX-License-Identifier: MIT
import OpenAPIDocument

/// The types of strings by their format.
enum StringFormat {
    static func type(of schema: Schema, notes: Notes) -> SwiftType {
        switch schema.format {
        case "date-time", "datetime": .date
        case "date", "full-date": .calendarDate
        case "uuid", "guid": .uuid
        case "uri", "url": .url
        case "byte", "base64": .data
        case "binary": .data
        default:
            schema.place.string("contentEncoding")?.lowercased() == "base64" ? .data : .string
        }
    }

    /// Whether a format implies a string even without `type`.
    static func isKnown(_ format: String?) -> Bool {
        let known: Set = ["date-time", "date", "uuid", "uri", "url", "byte", "binary", "email", "password", "hostname"]
        return format.map(known.contains) ?? false
    }
}
