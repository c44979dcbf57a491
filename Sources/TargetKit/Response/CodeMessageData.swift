// SPDX-License-Identifier: MIT
import Foundation

/// The envelope `{"code": 0, "message": "…", "data": …}`, with the names and codes that a module of a server uses.
///
/// ```swift
/// let orders = CodeMessageData()                                         // 0, "0", 200, "200" and "000000" are success
/// let users = CodeMessageData(code: "status", messages: ["msg"], data: "result.value", success: ["OK"])
/// let user = try await provider.request(.user(7), as: User.self, options: .setting(\.envelope, users))
/// ```
public struct CodeMessageData: ResponseEnvelope, Hashable {
    /// Where the code is; a key path.
    package var code: JSONPath
    /// Where the message may be; the first that holds a text counts.
    package var messages: [JSONPath]
    /// Where the value is.
    package var data: JSONPath
    /// The codes that mean success.
    package var success: Set<ServerCode>
    /// Whether a body without a code is a success; else it is no such envelope, an error of stage `.decoding`.
    package var acceptsMissingCode: Bool
    /// The message where the server gives none; default empty: the person then reads the sentence of ``ErrorTexts``.
    package var fallbackMessage: String

    /// An envelope of that shape.
    ///
    /// - Parameters:
    ///   - code: Where the code is; default `code`.
    ///   - messages: Where the message may be; default `message`, then `msg`.
    ///   - data: Where the value is; default `data`.
    ///   - success: The codes that mean success, texts or numbers; default `0`, `200` and `"000000"`.
    ///   - acceptsMissingCode: Whether a body without a code is a success; default: no.
    ///   - fallbackMessage: The message where the server gives none; default: empty.
    public init(
        code: JSONPath = "code",
        messages: [JSONPath] = ["message", "msg"],
        data: JSONPath = "data",
        success: Set<ServerCode> = [0, 200, "000000"],
        acceptsMissingCode: Bool = false,
        fallbackMessage: String = ""
    ) {
        self.code = code
        self.messages = messages
        self.data = data
        self.success = success
        self.acceptsMissingCode = acceptsMissingCode
        self.fallbackMessage = fallbackMessage
    }

    /// The bytes of the value; `nil` when it is missing or `null`.
    ///
    /// - Throws: ``ServerDefinedError`` when the code does not mean success; `DecodingError` when there is no code, or no
    ///   JSON.
    public func payload(of response: Response) throws -> Data? {
        if let serverCode = try serverCode(in: response.data), !success.contains(serverCode) {
            throw ServerDefinedError(
                code: serverCode,
                message: message(in: response.data),
                httpStatus: response.statusCode
            )
        }
        guard let bytes = try Self.value(at: data, in: response.data), bytes != Self.null else { return nil }
        return bytes
    }

    private func serverCode(in body: Data) throws -> ServerCode? {
        if let bytes = try Self.value(at: code, in: body), let code = ServerCode(try JSONValue(parsing: bytes)) {
            return code
        }
        guard acceptsMissingCode, body.contains(UInt8(ascii: "{")) else {
            // Says that it is missing, in the error's words.
            _ = try code.value(in: body)
            let context = DecodingError.Context(
                codingPath: code.keys.map { JSONPath.PathKey($0) },
                debugDescription: "The code is neither a text nor a number."
            )
            throw DecodingError.dataCorrupted(context)
        }
        return nil
    }

    private func message(in body: Data) -> String {
        for path in messages {
            guard let bytes = try? path.value(in: body), let text = try? JSONValue(parsing: bytes).string else {
                continue
            }
            if text.contains(where: { !$0.isWhitespace }) { return text }
        }
        return fallbackMessage
    }

    private static let null = Data("null".utf8)

    private static func value(at path: JSONPath, in body: Data) throws -> Data? {
        do {
            return try path.value(in: body)
        } catch DecodingError.keyNotFound {
            return nil
        }
    }
}
