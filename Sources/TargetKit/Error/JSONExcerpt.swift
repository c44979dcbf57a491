// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An excerpt of the JSON that could not be decoded, in one short line for the developer.
///
/// The values of secret fields are omitted, and so is text that repeats the request, because a server may echo a
/// password under any name. A body that is not JSON is not shown, because its secrets cannot be identified.
struct JSONExcerpt {
    /// The maximum length of an excerpt in characters.
    static let limit = 80
    /// The maximum number of bytes that are parsed.
    private static let largestValue = 1 << 18

    private let sent: SentTexts
    private var text = ""
    private var count = 0

    /// The excerpt at the error's coding path, or `nil`.
    static func text(about error: DecodingError, in data: Data, sent request: URLRequest?) -> String? {
        guard let path = error.path else { return nil }
        let keys = path.map { key in key.intValue.map { String($0) } ?? key.stringValue }
        guard let bytes = try? JSONPath(keys: keys).value(in: data), bytes.count <= largestValue,
            let value = try? JSONValue(parsing: bytes)
        else { return nil }
        var excerpt = JSONExcerpt(sent: SentTexts(request))
        let isSecret = keys.contains(where: SecretFields.isSecret)
        if let name = path.last, name.intValue == nil {
            excerpt.writeMember(name.stringValue, isSecret ? .string(HeaderRedaction.placeholder) : value)
        } else {
            excerpt.write(isSecret ? .string(HeaderRedaction.placeholder) : value)
        }
        let line = excerpt.text.map { $0.isNewline ? " " : $0 }
        return line.count > limit ? String(line.prefix(limit - 1)) + "…" : String(line)
    }

    private init(sent: SentTexts) {
        self.sent = sent
    }

    private var isFull: Bool { count > Self.limit }

    private mutating func append(_ part: String) {
        text += part
        count += part.count
    }

    /// Each level writes a character, so the limit also bounds the depth.
    private mutating func write(_ value: JSONValue) {
        guard !isFull else { return }
        switch value {
        case .object(let object):
            append("{")
            for (index, member) in object.enumerated() where !isFull {
                if index > 0 { append(",") }
                writeMember(member.key, member.value)
            }
            append("}")
        case .array(let elements):
            append("[")
            for (index, element) in elements.enumerated() where !isFull {
                if index > 0 { append(",") }
                write(element)
            }
            append("]")
        case .string(let text): writeString(text)
        case .null, .bool: append(String(decoding: value.jsonData(), as: UTF8.self))
        case .number:
            let text = String(decoding: value.jsonData(), as: UTF8.self)
            append(sent.contains(text) ? "\"\(HeaderRedaction.placeholder)\"" : text)
        }
    }

    private mutating func writeMember(_ key: String, _ value: JSONValue) {
        // Keys are not secret; they are in the coding path already.
        append(String(decoding: JSONValue.string(String(key.prefix(Self.limit))).jsonData(), as: UTF8.self))
        append(":")
        write(SecretFields.isSecret(key) ? .string(HeaderRedaction.placeholder) : value)
    }

    private mutating func writeString(_ text: String) {
        let shown = sent.contains(text) ? HeaderRedaction.placeholder : String(text.prefix(Self.limit))
        append(String(decoding: JSONValue.string(shown).jsonData(), as: UTF8.self))
    }
}

/// The words that a request has sent outside its path, to find them in the response.
struct SentTexts {
    private let texts: [String]

    init(_ request: URLRequest?) {
        guard let request else {
            texts = []
            return
        }
        let query = request.url?.query(percentEncoded: true) ?? ""
        let body = request.httpBody.map { String(decoding: $0.prefix(1 << 16), as: UTF8.self) } ?? ""
        let form = body.replacingOccurrences(of: "+", with: " ")
        texts =
            [query, body, query.removingPercentEncoding ?? "", form.removingPercentEncoding ?? ""]
            + (request.allHTTPHeaderFields ?? [:]).values
    }

    /// Whether a word of four characters or more was sent.
    func contains(_ text: String) -> Bool {
        guard texts.contains(where: { !$0.isEmpty }) else { return false }
        let words = text.prefix(1 << 12).split { !$0.isLetter && !$0.isNumber }
        return words.contains { word in word.count >= 4 && texts.contains { $0.contains(word) } }
    }
}

extension DecodingError {
    /// The coding path to show: for a missing key, that of the object; `nil` if the body is not JSON.
    fileprivate var path: [any CodingKey]? {
        switch self {
        case .keyNotFound(_, let context), .valueNotFound(_, let context), .typeMismatch(_, let context):
            context.codingPath
        case .dataCorrupted(let context): context.codingPath.isEmpty ? nil : context.codingPath
        @unknown default: nil
        }
    }

    /// This error with a prefix added to its coding path.
    func below(_ keys: [String]) -> DecodingError {
        guard !keys.isEmpty else { return self }
        func moved(_ context: Context) -> Context {
            let path: [any CodingKey] = keys.map { JSONPath.PathKey($0) }
            return Context(
                codingPath: path + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: context.underlyingError
            )
        }
        switch self {
        case .keyNotFound(let key, let context): return .keyNotFound(key, moved(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, moved(context))
        case .typeMismatch(let type, let context): return .typeMismatch(type, moved(context))
        case .dataCorrupted(let context): return .dataCorrupted(moved(context))
        @unknown default: return self
        }
    }
}
