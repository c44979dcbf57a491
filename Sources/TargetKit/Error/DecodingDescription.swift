// SPDX-License-Identifier: MIT

/// A decoding error in one line, with the expectation, the actual value, its location, and a remedy. It quotes only
/// keys and types of the body.
struct DecodingDescription: CustomStringConvertible {
    let description: String

    /// - Parameter isJSON: Whether a key path or another `JSONDecoder` can help; default `true`.
    init(_ error: DecodingError, isJSON: Bool = true) {
        description =
            switch error {
            case .keyNotFound(let key, let context) where !isJSON:
                "no value at \(CodingKeyPath(context.codingPath + [key])); make the property optional"
            case .typeMismatch(let type, let context) where !isJSON:
                Self.place(of: type, context) + "; change the property's type"
            case .keyNotFound(let key, let context): Self.text(missing: key, context)
            case .valueNotFound(let type, let context):
                "expected \(Self.name(of: type)) at \(CodingKeyPath(context.codingPath)), found null; "
                    + "make the property optional"
            case .typeMismatch(let type, let context): Self.text(expected: type, context)
            case .dataCorrupted(let context): Self.text(corrupted: context)
            @unknown default: "not readable"
            }
    }

    private static func text(missing key: any CodingKey, _ context: DecodingError.Context) -> String {
        let place = "no value at \(CodingKeyPath(context.codingPath + [key]))"
        if key is PathKey { return "\(place); check the key path" }
        var remedies = ["make the property optional"]
        if key.stringValue.contains(where: \.isUppercase) { remedies.append(#"set \.decoder with a key strategy"#) }
        if context.codingPath.isEmpty { remedies.append(#"pass a key path or set \.envelope if the value is nested"#) }
        guard let last = remedies.popLast() else { return place }
        return "\(place); " + (remedies.isEmpty ? last : remedies.joined(separator: ", ") + ", or " + last)
    }

    private static func text(expected type: any Any.Type, _ context: DecodingError.Context) -> String {
        let found = FoundValue(context.debugDescription)
        return place(of: type, context) + "; "
            + remedy(expected: type, found: found, isTop: context.codingPath.isEmpty)
    }

    private static func place(of type: any Any.Type, _ context: DecodingError.Context) -> String {
        "expected \(name(of: type)) at \(CodingKeyPath(context.codingPath)), found "
            + (FoundValue(context.debugDescription)?.rawValue ?? "another type")
    }

    private static func remedy(expected type: any Any.Type, found: FoundValue?, isTop: Bool) -> String {
        switch found {
        // `JSONDecoder` reads a `Date` as a `Double` by default.
        case .string where type == Double.self:
            #"for a Date, set \.decoder with a date strategy; for a number, use @Lenient of TargetKitJSON"#
        case .object where type == [Any].self:
            isTop
                ? #"pass the key path of the array, or set \.envelope"#
                : "change the property's type, or pass the key path of the array"
        case .array where type == [String: Any].self:
            isTop ? "decode an array, for example [Model].self" : "change the property's type to an array"
        case .string, .number, .bool:
            type == [Any].self || type == [String: Any].self
                ? "change the property's type" : "change the property's type, or use @Lenient of TargetKitJSON"
        default: #"change the property's type, or set \.decoder"#
        }
    }

    private static let date = #"a date in the decoder's format; set \.decoder with the server's date strategy"#
    private static let number = "a number that fits the property's type; use a type with a larger range"

    /// Foundation's texts that indicate the expected value. The rest of such a text may quote the body.
    private static let formats = [
        ("Expected date string", date),
        ("Date string does not match", date),
        ("Parsed JSON number", number),
        ("Number ", number),
        ("Invalid URL string", "a valid URL; change the property's type to String, or use @Lenient of TargetKitJSON"),
        ("Encountered Data is not valid Base64", #"Base64; set \.decoder with another data strategy"#),
        ("Attempted to decode UUID", "a UUID; change the property's type to String"),
    ]

    private static func text(corrupted context: DecodingError.Context) -> String {
        if let error = context.underlyingError as? JSONParsingError { return error.description }
        let place = "unreadable value at \(CodingKeyPath(context.codingPath))"
        let text = context.debugDescription
        let isTop = context.codingPath.isEmpty
        if let format = formats.first(where: { text.hasPrefix($0.0) })?.1 {
            // On Linux (Swift 6.3.1), the path of an ISO 8601 date is the path of its container.
            return "\(isTop ? "unreadable value" : place): expected \(format)"
        }
        // On Linux (Swift 6.3.1), this is also the text for a number that doesn't fit its type.
        if text == "The given data was not valid JSON." {
            return "\(place): the JSON is invalid, or a number doesn't fit the type of its property"
        }
        if isTop { return place }
        if let type = enumeration(in: text) {
            return "\(place): expected a case of \(type); add the case, or use @Lenient of TargetKitJSON"
        }
        return #"\#(place); set \.decoder for its format"#
    }

    /// The type in the standard library's text about a raw value without a case.
    private static func enumeration(in text: String) -> Substring? {
        let start = "Cannot initialize "
        guard text.hasPrefix(start), let end = text.range(of: " from invalid ") else { return nil }
        let type = text[..<end.lowerBound].dropFirst(start.count)
        let isName = !type.isEmpty && type.utf8.count <= 80 && type.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x5F }
        return isName ? type : nil
    }

    private static func name(of type: any Any.Type) -> String {
        if type == [Any].self { return "an array" }
        if type == [String: Any].self { return "an object" }
        return "\(type)"
    }
}

/// The kind of value that `JSONDecoder` found, from its text.
private enum FoundValue: String {
    case string = "a string"
    case number = "a number"
    case bool = "a Boolean"
    case array = "an array"
    case object = "an object"
    case null = "null"

    init?(_ text: String) {
        guard let start = text.range(of: "but found ", options: .backwards),
            let end = text.range(of: " instead", range: start.upperBound..<text.endIndex)
        else { return nil }
        switch text[start.upperBound..<end.lowerBound] {
        case "a string", "a string/data", "string": self = .string
        case "a number", "number": self = .number
        case "bool", "a bool", "boolean": self = .bool
        case "an array", "array": self = .array
        case "a dictionary", "dictionary", "a map": self = .object
        case "null", "null value", "a null value": self = .null
        default: return nil
        }
    }
}

/// A coding path as one writes it in Swift, for example `items[2].price`.
struct CodingKeyPath: CustomStringConvertible {
    let description: String

    init(_ keys: [any CodingKey]) {
        var text = ""
        for key in keys {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : "." + key.stringValue
            }
        }
        description = keys.isEmpty ? "the top" : text
    }
}
