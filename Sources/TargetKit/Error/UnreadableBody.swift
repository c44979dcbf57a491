// SPDX-License-Identifier: MIT

/// The reason a body is unreadable, described without quoting the body.
///
/// Indirect, so that it doesn't increase the size of an error.
package indirect enum UnreadableBody: Error, Sendable {
    /// The body contains only white space; the type describes its `Content-Type`.
    case empty(type: String)
    /// A stub's sample is empty.
    case emptySample
    /// The body was written to a file.
    case inFile
    /// The body isn't JSON. It is `HTML`, `XML`, or another format if `nil`.
    case notJSON(String?, type: String)
    /// The body is HTML, and a decoder of another format couldn't read it.
    case html(type: String)
    /// The value of a format other than JSON has another shape.
    case otherShape(DecodingError)
    /// The body starts as JSON and contains a syntax error.
    case brokenJSON(JSONParsingError)
    /// A key path was to be read with a decoder of another format than JSON.
    case keyPath(decoder: String)
    /// The charset is unknown or can't be decoded on this system.
    case charset(String)
    /// The bytes aren't valid text in the charset, one that is known.
    case notText(charset: String)
    /// A line, numbered from 1, exceeds the limit in bytes.
    case lineTooLong(number: Int, limit: Int)
    /// An event's data exceeds the limit in bytes.
    case eventTooLarge(limit: Int)
    /// A line, numbered from 1, couldn't be decoded; with the decoder's error.
    case undecodableLine(number: Int, any Error)
    /// The response isn't an event stream; with its `Content-Type`.
    case notAnEventStream(contentType: String?)
    /// The body can be read only once, and another loop is reading it or read it.
    case alreadyRead
}

extension UnreadableBody: DescribedError {
    /// The reason in one line.
    var redactedDescription: String {
        switch self {
        case .empty(let type): "the body is empty (\(type))"
        case .emptySample: "the stub's sample is empty; implement sampleData or sampleResponse"
        case .inFile: "the body is in a file and wasn't read"
        case .notJSON(let kind?, let type): "the body is \(kind) instead of JSON (\(type))"
        case .notJSON(nil, let type): "the body isn't JSON (\(type))"
        case .html(let type): "the body is HTML (\(type))"
        case .otherShape(let error): DecodingDescription(error, isJSON: false).description
        case .brokenJSON(let error): error.description
        case .keyPath(let decoder):
            "a key path is read from JSON only, and the decoder is \(decoder); decode the whole body"
        case .charset(let label): "\(Self.words(for: label)) can't be read"
        case .notText(let label): "the body isn't valid text in the charset \(label)"
        case .lineTooLong(let number, let limit): "line \(number) is longer than the limit of \(limit) bytes"
        case .eventTooLarge(let limit): "an event is larger than the limit of \(limit) bytes"
        case .undecodableLine(let number, let error): "line \(number): \(error.redactedLine)"
        case .notAnEventStream(let type?): "the Content-Type is \(type.prefix(100)), not text/event-stream"
        case .notAnEventStream(nil): "the response has no Content-Type; it should be text/event-stream"
        case .alreadyRead: "the body can be read only once, and another loop has started to read it"
        }
    }

    /// The server chooses the label, and can repeat text of the request in it, so it is shown only if it begins like
    /// the name of a charset.
    private static func words(for label: String) -> String {
        let name = label.lowercased()
        let isLabel =
            label.utf8.count <= 40 && charsets.contains { name.hasPrefix($0) }
            && label.utf8.allSatisfy { $0.isLetterOrDigit || "-_.:+".utf8.contains($0) }
        return isLabel ? "the charset \(label)" : "the Content-Type's charset"
    }

    private static let charsets = [
        "ascii", "big5", "cp", "cseuc", "euc", "gb", "hz-", "ibm", "iso", "koi", "mac", "shift", "us-", "utf",
        "windows-", "x-",
    ]
}

extension UnreadableBody {
    /// The size of the largest body that is examined, in bytes.
    private static let largestBody = 1 << 18

    /// Creates the reason why a response's JSON is unreadable; `nil` if the body is valid JSON of another shape.
    init?(_ response: Response, error: any Error) {
        let type = response.headers[.contentType]
        let content = response.data.drop { $0.isJSONSpace || [0xEF, 0xBB, 0xBF].contains($0) }
        guard let first = content.first else {
            self = Self.missing(in: response)
            return
        }
        // UTF-16 isn't valid for JSON (RFC 8259 §8.1), but Foundation reads it.
        guard first < 0xFE, response.data.count <= Self.largestBody else { return nil }
        if first == UInt8(ascii: "<") {
            self = .notJSON(Self.isHTML(content, type: type) ? "HTML" : "XML", type: Self.words(about: type))
            return
        }
        // A body without a container is parsed quickly, and another word can start like `true`.
        let isContainer = "{[".utf8.contains(first)
        guard !isContainer || Self.isSyntaxError(error) else { return nil }
        guard let error = JSONScanner.error(in: response.data, isLimited: true) else { return nil }
        self = isContainer ? .brokenJSON(error) : .notJSON(nil, type: Self.words(about: type))
    }

    /// Creates the reason why a response's value of another format is unreadable; `nil` if only the decoder knows it.
    ///
    /// - Parameter mayBeJSON: Whether the value may be JSON that a closure decodes.
    init?(_ response: Response, ofOtherFormat error: any Error, mayBeJSON: Bool) {
        if error is UnreadableBody { return nil }
        let content = response.data.drop { $0.isJSONSpace || [0xEF, 0xBB, 0xBF].contains($0) }
        let type = response.headers[.contentType]
        if content.isEmpty {
            // A value of no bytes can be one of another type.
            if case DecodingError.dataCorrupted = error {} else if error is DecodingError { return nil }
            self = Self.missing(in: response)
        } else if content.first == UInt8(ascii: "<"), Self.isSyntaxError(error) || !(error is DecodingError),
            Self.isHTML(content, type: type)
        {
            self = .html(type: Self.words(about: type))
        } else if !mayBeJSON, let error = error as? DecodingError {
            self = .otherShape(error)
        } else {
            return nil
        }
    }

    private static func missing(in response: Response) -> Self {
        if response.file != nil { return .inFile }
        return response.isSample ? .emptySample : .empty(type: words(about: response.headers[.contentType]))
    }

    /// Whether a decoder failed to parse the text.
    private static func isSyntaxError(_ error: any Error) -> Bool {
        if case DecodingError.dataCorrupted(let context) = error { return context.codingPath.isEmpty }
        return error is JSONParsingError
    }

    private static func isHTML(_ content: Data, type: String?) -> Bool {
        let beginning = String(decoding: content.prefix(64), as: UTF8.self).lowercased()
        if beginning.hasPrefix("<!doctype html") || beginning.hasPrefix("<html") { return true }
        return !beginning.hasPrefix("<?xml") && type.flatMap(mediaType) == "text/html"
    }

    private static func words(about type: String?) -> String {
        guard let type else { return "no Content-Type" }
        return mediaType(type).map { "Content-Type: \($0)" } ?? "an invalid Content-Type"
    }

    /// The media type without its parameters, in lowercase; `nil` if it is invalid or long.
    private static func mediaType(_ text: String) -> String? {
        let type = text.mediaType
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, topLevelTypes.contains(String(parts[0])), !parts[1].isEmpty,
            type.utf8.count <= 80,
            parts[1].utf8.allSatisfy({ $0.isLetterOrDigit || "-_.+".utf8.contains($0) })
        else { return nil }
        return type
    }

    /// The registered top-level types (RFC 6838 §4.2).
    private static let topLevelTypes: Set = [
        "application", "audio", "font", "image", "message", "model", "multipart", "text", "video",
    ]
}
