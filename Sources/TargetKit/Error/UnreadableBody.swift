// SPDX-License-Identifier: MIT
import Foundation

/// Why nothing could be read from a body, in words that quote nothing of it.
///
/// In one box, so that an error is no larger for it.
indirect enum UnreadableBody: Error, Sendable, Hashable {
    /// There is nothing but white space; with the words about its `Content-Type`.
    case empty(type: String)
    /// What a stub answered with has no bytes.
    case emptySample
    /// The body went into a file.
    case inFile
    /// It is no JSON, but `HTML` or `XML`, or `nil`: something else.
    case notJSON(String?, type: String)
    /// It begins as JSON.
    case brokenJSON(JSONParsingError)
    /// The charset that was named is unknown, or cannot be decoded on this system; empty when its name may be a secret.
    case charset(String)
    /// The bytes are no text in the charset that was named.
    case notText(charset: String)
}

extension UnreadableBody: CustomStringConvertible, LocalizedError {
    var description: String {
        switch self {
        case .empty(let type): "the body is empty (\(type))"
        case .emptySample: "the stub's sample is empty: give the target sampleData or sampleResponse"
        case .inFile: "the body is in a file, and was not read"
        case .notJSON(let kind?, let type): "the body is \(kind) instead of JSON (\(type))"
        case .notJSON(nil, let type): "the body is not JSON (\(type))"
        case .brokenJSON(let error): error.description
        case .charset(let label): "\(Self.words(for: label)) cannot be read"
        case .notText(let label): "the body is not text in \(Self.words(for: label))"
        }
    }

    var errorDescription: String? { description }

    /// A label comes from the server: it is shown only when it looks like one.
    private static func words(for label: String) -> String {
        let isLabel =
            !label.isEmpty && label.utf8.count <= 40
            && label.utf8.allSatisfy { $0.isLetterOrDigit || "-_.:+".utf8.contains($0) }
        return isLabel ? "the charset \(label)" : "the charset that the Content-Type names"
    }
}

extension UnreadableBody {
    /// The most bytes that are looked at to find out.
    private static let largestBody = 1 << 18

    /// Why the JSON of a response could not be read; `nil` when it is JSON, of another shape than was asked for.
    init?(_ response: Response, _ error: any Error) {
        let type = response.headers[.contentType]
        let content = response.data.drop { $0.isJSONSpace || [0xEF, 0xBB, 0xBF].contains($0) }
        guard let first = content.first else {
            if response.file != nil {
                self = .inFile
            } else {
                self = response.isSample ? .emptySample : .empty(type: Self.words(about: type))
            }
            return
        }
        // JSON in UTF-16 is none (RFC 8259 §8.1), but Foundation reads it.
        guard first < 0xFE, response.data.count <= Self.largestBody else { return nil }
        if first == UInt8(ascii: "<") {
            self = .notJSON(Self.isHTML(content, type) ? "HTML" : "XML", type: Self.words(about: type))
            return
        }
        // What is not a container is soon read, and a word may begin as `true` does.
        let isContainer = "{[".utf8.contains(first)
        guard !isContainer || Self.isSyntaxError(error) else { return nil }
        do {
            _ = try JSONValue(parsing: response.data)
            return nil
        } catch {
            self = isContainer ? .brokenJSON(error) : .notJSON(nil, type: Self.words(about: type))
        }
    }

    /// Whether a decoder could not read the text at all.
    private static func isSyntaxError(_ error: any Error) -> Bool {
        if case DecodingError.dataCorrupted(let context) = error { return context.codingPath.isEmpty }
        return error is JSONParsingError
    }

    private static func isHTML(_ content: Data, _ type: String?) -> Bool {
        let beginning = String(decoding: content.prefix(64), as: UTF8.self).lowercased()
        if beginning.hasPrefix("<!doctype html") || beginning.hasPrefix("<html") { return true }
        return !beginning.hasPrefix("<?xml") && type.flatMap(mediaType) == "text/html"
    }

    private static func words(about type: String?) -> String {
        guard let type else { return "no Content-Type" }
        return mediaType(type).map { "Content-Type: \($0)" } ?? "an invalid Content-Type"
    }

    /// The media type without its parameters, in lower case; `nil` for what is none, or a long one.
    private static func mediaType(_ text: String) -> String? {
        let type = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, topLevelTypes.contains(String(parts[0])), !parts[1].isEmpty,
            type.utf8.count <= 80,
            parts[1].utf8.allSatisfy({ $0.isLetterOrDigit || "-_.+".utf8.contains($0) })
        else { return nil }
        return type
    }

    /// The registered ones (RFC 6838 §4.2).
    private static let topLevelTypes: Set = [
        "application", "audio", "font", "image", "message", "model", "multipart", "text", "video",
    ]
}
