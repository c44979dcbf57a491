// SPDX-License-Identifier: MIT
import Foundation

/// What goes out in a call's query and body, and where the response's body goes.
///
/// The three are independent, so a task is made of parts: start with one and add others to it.
///
/// ```swift
/// .plain
/// .json(order)
/// .json(order).query(["dry-run": true])
/// .multipart(form).query(["album": id])
/// .download(to: file).parameters(["size": "large"])
/// ```
///
/// Nothing is encoded until the endpoint becomes a request: a value that cannot be encoded is an error of that call.
public struct HTTPTask: Sendable {
    /// No parameters, no body, the response in memory.
    public static let plain = HTTPTask()

    /// Values for the query, in the order they were added.
    var queries: [QueryValues] = []
    /// What the body is made from.
    var content = RequestContent.none
    /// Dictionaries whose encoding decides where they go.
    var parameters: [EncodedParameters] = []
    /// Where the response's body goes.
    var destination = TransportRequest.Destination.memory()
    /// Whether a second body was added, which is an error of the call.
    var hasTwoBodies = false

    /// No parameters, no body, the response in memory.
    public init() {}

    /// Keys sorted, so that the same value gives the same bytes every time.
    static let jsonEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }()
}

/// Values that go into the query.
enum QueryValues: Sendable {
    case dictionary([String: any Sendable], URLEncoding)
    case pairs([(String, any Sendable)], URLEncoding)
    case encodable(any Encodable & Sendable, URLEncodedFormEncoder)
}

/// What a body is made from.
enum RequestContent: Sendable {
    case none
    case data(Data, contentType: String?)
    case json(any Encodable & Sendable, JSONEncoder)
    case form(any Encodable & Sendable, URLEncodedFormEncoder)
    case formPairs([(String, any Sendable)], URLEncoding)
    case multipart(MultipartForm)
    case file(URL)
}

/// A dictionary and the encoding that puts it into the request.
struct EncodedParameters: Sendable {
    let values: [String: any Sendable]
    let encoding: any ParameterEncoding
}

extension HTTPTask: ReflectsDescription {
    /// The kinds of its parts, without their values.
    public var description: String {
        var parts: [String] = []
        if !queries.isEmpty { parts.append("a query") }
        if !parameters.isEmpty { parts.append("parameters") }
        switch content {
        case .none: break
        case .data: parts.append("a body of bytes")
        case .json: parts.append("a body of JSON")
        case .form, .formPairs: parts.append("a form")
        case .multipart: parts.append("a multipart form")
        case .file(let url): parts.append("the file \(RedactedURL(url))")
        }
        if case .file(let url) = destination { parts.append("into the file \(url.path)") }
        return parts.isEmpty ? "plain" : parts.joined(separator: ", ")
    }
}
