// SPDX-License-Identifier: MIT

/// Expressions for the text of a value in a path, a header field, a cookie or a part of a form.
enum ParameterText {
    /// The text of a value as a Swift expression; `nil` if the type has no text.
    static func expression(_ value: String, type: SwiftType, types: TypeBuilder) -> String? {
        switch type {
        case .string: return value
        case .bool, .int, .int32, .int64, .uint, .uint32, .uint64, .double, .float, .decimal: return "\"\\(\(value))\""
        case .date: return "RFC3339.text(\(value))"
        case .calendarDate: return "\(value).rawValue"
        case .uuid: return "\(value).uuidString"
        case .url: return "\(value).absoluteString"
        case .data: return "\(value).base64EncodedString()"
        case .json, .dictionary: return nil
        case .optional: return nil
        case .array(let element):
            guard let inner = expression("$0", type: element.unwrapped, types: types), !element.isOptional,
                !isArray(element)
            else { return nil }
            let list = inner == "$0" ? value : "\(value).map { \(inner) }"
            return "\(list).joined(separator: \",\")"
        case .named(let name):
            guard case .enumeration(let model) = types.declarations[name]?.shape else { return nil }
            return model.rawType == .string ? "\(value).rawValue" : "\"\\(\(value).rawValue)\""
        }
    }

    /// Whether the value has names and values.
    static func isObject(_ type: SwiftType, types: TypeBuilder) -> Bool {
        switch type {
        case .dictionary: return true
        case .named(let name):
            if case .object = types.declarations[name]?.shape { return true }
            return false
        default: return false
        }
    }

    private static func isArray(_ type: SwiftType) -> Bool {
        if case .array = type { true } else { false }
    }

    /// Whether `URLEncoding` writes the value, or an array of such values.
    static func isPlain(_ type: SwiftType, types: TypeBuilder) -> Bool {
        switch type {
        case .array(let element): isScalar(element, types: types)
        default: isScalar(type, types: types)
        }
    }

    private static func isScalar(_ type: SwiftType, types: TypeBuilder) -> Bool {
        switch type {
        case .named(let name):
            if case .enumeration = types.declarations[name]?.shape { true } else { false }
        case .json, .array, .dictionary, .optional: false
        default: true
        }
    }
}
