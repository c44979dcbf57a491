// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// A condition on the query, header fields or body of a request, for ``RequestPattern/with(_:)``.
///
/// ```swift
/// .post("/orders").with(.header(.contentType, "application/json"), .json("items.0.id", 3))
/// ```
public struct RequestMatcher: Sendable {
    /// Returns a description of the condition for messages.
    let description: @Sendable () -> String
    /// Whether a request meets the condition.
    let isMet: @Sendable (RequestParts) -> Bool
    /// The differences between the condition and a request that doesn't meet it.
    let differences: @Sendable (RequestParts) -> [String]

    /// Matches if the URL's query has an item, and the values of all items with this name are the given ones, in order.
    /// Names and values are compared unescaped, and a `+` is a space.
    ///
    /// - Parameters:
    ///   - name: The name of the item.
    ///   - values: The values; if there are none, an item with any value matches.
    public static func query(_ name: String, _ values: String...) -> Self {
        .query(name, values: values)
    }

    static func query(_ name: String, values: [String]) -> Self {
        .items("query \(name)", expected: values, isSecret: SecretFields.isSecretParameter(name)) { request in
            request.query.filter { $0.name == name }.map { $0.value ?? "" }
        }
    }

    /// Matches if the header has a field. Its name is case-insensitive.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - value: The value, with repeated fields joined by `", "`; default `nil`: any value.
    public static func header(_ name: HTTPHeaderName, _ value: String? = nil) -> Self {
        let values = value.map { [$0] } ?? []
        return .items(
            "header \(name)",
            expected: values,
            isSecret: HeaderRedaction.standard.isSecret(name),
            isSecretOf: { $0.secretHeaders.contains(name) }
        ) { request in
            request.request.headers[name].map { [$0] } ?? []
        }
    }

    /// Matches if the body is a form (`application/x-www-form-urlencoded`) with a field, and the values of all fields
    /// with this name are the given ones, in order. Names and values are compared unescaped.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - values: The values; if there are none, a field with any value matches.
    public static func form(_ name: String, _ values: String...) -> Self {
        .items("form field \(name)", expected: values, isSecret: SecretFields.isSecretParameter(name)) { request in
            request.form.filter { $0.name == name }.map { $0.value ?? "" }
        }
    }

    /// Matches if the body is JSON with a value at a key path, for example `items.0.id`.
    ///
    /// Numbers are compared by value, so `1` and `1.0` are equal, but `1` and `true` aren't. The order of an object's
    /// members is ignored.
    ///
    /// - Parameters:
    ///   - keyPath: Keys and array indices separated by dots; a dot in a key is escaped as `\.`. An empty key
    ///     path is the whole body.
    ///   - value: The value.
    public static func json(_ keyPath: String, _ value: JSONValue) -> Self {
        let path = JSONPath(keyPath)
        let isSecret = path.keys.contains { SecretFields.isSecret($0) }
        let name = keyPath.isEmpty ? "JSON" : "JSON \(keyPath)"
        return Self(
            description: { "\(name) \(MessageText.shown(value, isSecret: isSecret))" },
            isMet: { $0.json?.value(at: path) == value },
            differences: { request in
                guard let json = request.json else { return ["\(name): the body isn't valid JSON"] }
                guard let found = json.value(at: path) else {
                    return ["\(name): expected \(MessageText.shown(value, isSecret: isSecret)), found none"]
                }
                let shown = MessageText.redacted(json, at: path)
                let isSecret = isSecret || (shown == .string(SecretFields.placeholder) && shown != found)
                let wanted = MessageText.shown(value, isSecret: isSecret)
                guard isSecret || !value.isContainer || !found.isContainer else {
                    return MessageText.differences(value, found: found, subject: name)
                }
                return ["\(name): expected \(wanted), found \(MessageText.shown(found, isSecret: isSecret))"]
            }
        )
    }

    /// Matches if the body consists of the given bytes.
    public static func body(_ data: Data) -> Self {
        Self(
            description: { "body of \(data.count) bytes" },
            isMet: { $0.request.body == data || $0.request.decodedBody == data },
            differences: { request in
                let request = request.request
                return MessageText.differences(
                    data,
                    found: request.decodedBody,
                    contentType: request.headers[.contentType]
                )
            }
        )
    }

    /// Matches if the body is the given text in UTF-8.
    public static func body(_ text: String) -> Self {
        .body(Data(text.utf8))
    }

    /// Matches if the request meets a custom condition.
    ///
    /// - Parameters:
    ///   - condition: A description of the condition for messages, for example `"the page is odd"`.
    ///   - isMet: Returns whether a request meets the condition. It is called on any thread.
    public static func satisfying(
        _ condition: String,
        _ isMet: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> Self {
        Self(
            description: { condition },
            isMet: { isMet($0.request) },
            differences: { _ in ["condition not met: \(condition)"] }
        )
    }

    /// Matches if the request doesn't meet a condition, for example `.not(.header(.authorization))`.
    public static func not(_ matcher: RequestMatcher) -> Self {
        Self(
            description: { "no \(matcher.description())" },
            isMet: { !matcher.isMet($0) },
            differences: { _ in ["unexpected \(matcher.description())"] }
        )
    }

    private static func items(
        _ name: String,
        expected: [String],
        isSecret: Bool,
        isSecretOf: @escaping @Sendable (RecordedRequest) -> Bool = { _ in false },
        found: @escaping @Sendable (RequestParts) -> [String]
    ) -> Self {
        Self(
            description: { expected.isEmpty ? name : "\(name) \(MessageText.shown(expected, isSecret: isSecret))" },
            isMet: { expected.isEmpty ? !found($0).isEmpty : found($0) == expected },
            differences: { request in
                let found = found(request)
                if expected.isEmpty { return ["\(name): found none"] }
                let isSecret = isSecret || isSecretOf(request.request)
                let shown = found.isEmpty ? "none" : MessageText.shown(found, isSecret: isSecret)
                return ["\(name): expected \(MessageText.shown(expected, isSecret: isSecret)), found \(shown)"]
            }
        )
    }
}

extension JSONValue {
    /// The value at a key path; `nil` if there is none, which differs from `null`.
    func value(at path: JSONPath) -> JSONValue? {
        path.keys.reduce(self as JSONValue?) { value, key in
            switch value {
            case .object(let object): object[key]
            case .array(let elements):
                JSONPath.index(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }

    /// Whether this is an array or object.
    fileprivate var isContainer: Bool { array != nil || object != nil }
}
