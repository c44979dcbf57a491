// SPDX-License-Identifier: MIT
import TargetKit

/// The envelope `{"code": 0, "message": "…", "data": …}`, with configurable names and codes.
///
/// ```swift
/// let orders = CodeMessageData()                                         // 0, "0", 200, "200" and "000000" are success
/// let users = CodeMessageData(code: "status", messages: ["msg"], data: "result.value", success: ["OK"])
/// let shop = CodeMessageData(unauthorized: [401, 40101])                // these codes refresh the token or sign out
/// let user = try await provider.request(.user(7), as: User.self, options: .setting(\.envelope, users))
/// ```
public struct CodeMessageData: ResponseEnvelope {
    /// The key path of the value.
    public let valueKeyPath: String?
    /// Whether an empty array or string is `null` if the value can't be decoded from it.
    public let emptyIsNull: Bool
    private let code: JSONPath
    private let messages: [JSONPath]
    private let data: JSONPath
    private let success: Set<String>
    private let unauthorized: Set<String>
    private let acceptsMissingCode: Bool
    private let fallbackMessage: String

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - code: The key path of the code; default `code`.
    ///   - messages: The key paths of the message; the first one with text is used; default: `message`, `msg`, `errmsg`,
    ///     then `error_msg`.
    ///   - data: The key path of the value; default `data`.
    ///   - success: The codes that mean success; default `0`, `200` and `000000`. A number or a Boolean in the body
    ///     equals its text, so `"0"` means `0` and `"0"`, and `"true"` means `true`.
    ///   - unauthorized: The codes that mean that the request has no valid credentials, as numbers or texts; default:
    ///     none. If the target accepts the status, the kind of the error is then `.unauthorized`, and
    ///     `AuthenticationPlugin` and `UnauthorizedPlugin` act as they do after status 401.
    ///   - acceptsMissingCode: Whether a body without a code is a success. By default, it is an error of stage
    ///     `.decoding`.
    ///   - emptyIsNull: Whether `[]` and `""` are `null` if the value can't be decoded from them, for PHP's empty objects;
    ///     default `false`. See `ResponseEnvelope.emptyIsNull`.
    ///   - fallbackMessage: The message if the server sends none. By default, it is empty, and `ErrorTexts` provides
    ///     the sentence for the user.
    public init<Code: LosslessStringConvertible>(
        code: String = "code",
        messages: [String] = ["message", "msg", "errmsg", "error_msg"],
        data: String = "data",
        success: Set<String> = ["0", "200", "000000"],
        unauthorized: [Code] = [String](),
        acceptsMissingCode: Bool = false,
        emptyIsNull: Bool = false,
        fallbackMessage: String = ""
    ) {
        self.code = JSONPath(code)
        self.messages = messages.map { JSONPath($0) }
        self.data = JSONPath(data)
        valueKeyPath = data
        self.success = success
        self.unauthorized = Set(unauthorized.map(\.description))
        self.acceptsMissingCode = acceptsMissingCode
        self.emptyIsNull = emptyIsNull
        self.fallbackMessage = fallbackMessage
    }

    /// Returns the bytes of the value; `nil` if it is missing or `null`.
    ///
    /// - Throws: `ServerDefinedError` if the code doesn't mean success, or `DecodingError` if the code is missing or
    ///   the body isn't valid JSON to its end.
    public func payload(of response: Response) throws -> Data? {
        if let serverCode = try serverCode(in: response.data), !success.contains(serverCode) {
            // A code that is cut can be another one, so the rest is validated.
            _ = try code.value(in: response.data)
            throw ServerDefinedError(
                code: serverCode,
                message: message(in: response.data),
                isUnauthorized: unauthorized.contains(serverCode)
            )
        }
        guard let bytes = try Self.value(at: data, in: response.data), bytes != Self.null else { return nil }
        return bytes
    }

    private func serverCode(in body: Data) throws -> String? {
        if let bytes = try Self.value(at: code, in: body, validatesRest: false),
            let code = Self.code(try JSONValue(parsing: bytes))
        {
            return code
        }
        guard acceptsMissingCode, body.contains(UInt8(ascii: "{")) else {
            // Throws the error for a missing value.
            _ = try code.value(in: body)
            let context = DecodingError.Context(
                codingPath: code.keys.map { PathKey($0) },
                debugDescription: "The code is neither a string nor a number."
            )
            throw DecodingError.dataCorrupted(context)
        }
        return nil
    }

    /// The code as text; `nil` for null, arrays and objects.
    private static func code(_ json: JSONValue) -> String? {
        switch json {
        case .string(let text): text
        case .bool(let flag): String(flag)
        // 200.0 and 2e2 are 200.
        case .number(let number): number.int.map { String($0) } ?? json.description
        case .null, .array, .object: nil
        }
    }

    private func message(in body: Data) -> String {
        for path in messages {
            guard let bytes = try? path.value(in: body, validatesRest: false),
                let text = try? JSONValue(parsing: bytes).string
            else { continue }
            if text.contains(where: { !$0.isWhitespace }) { return text }
        }
        return fallbackMessage
    }

    private static let null = Data("null".utf8)

    private static func value(at path: JSONPath, in body: Data, validatesRest: Bool = true) throws -> Data? {
        do {
            return try path.value(in: body, validatesRest: validatesRest)
        } catch DecodingError.keyNotFound {
            return nil
        }
    }
}
