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
            isBase64(schema) || isBinary(schema) ? .data : .string
        }
    }

    /// Whether the string is bytes in Base64.
    static func isBase64(_ schema: Schema) -> Bool {
        ["byte", "base64"].contains(schema.format)
            || schema.place.string("contentEncoding")?.lowercased() == "base64"
    }

    /// Whether the string is bytes as they are (OpenAPI 3.1 §4.8.14.3).
    static func isBinary(_ schema: Schema) -> Bool {
        if schema.format == "binary" { return true }
        guard schema.place["contentEncoding"] == nil, let type = schema.place.string("contentMediaType") else {
            return false
        }
        return !MediaType.isJSON(type) && !MediaType.isText(type)
    }

    /// Whether a format implies a string even without `type`.
    static func isKnown(_ format: String?) -> Bool {
        let known: Set = ["date-time", "date", "uuid", "uri", "url", "byte", "binary", "email", "password", "hostname"]
        return format.map(known.contains) ?? false
    }
}
