// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// The JSON document of an entry. Bodies are in separate files in the same folder.
///
/// ```json
/// {
///   "version" : 1,
///   "request" : { "method" : "GET", "url" : "https://…", "headers" : [ "Accept: */*" ], "body" : "001-….request-….json" },
///   "response" : { "status" : 200, "httpVersion" : "HTTP/2", "headers" : [ … ], "body" : "001-….response-….json" },
///   "failure" : { "URLError" : -1005 }
/// }
/// ```
struct CassetteDocument: Sendable, Hashable {
    /// The version of the format.
    static let version = 1

    var method: String
    var url: String
    var requestHeaders: HTTPHeaders
    /// The name of the file with the request's body; `nil` if it is empty.
    var requestBody: String?
    /// The response without its body; `nil` if there was none.
    var response: RecordedResponse?
    /// The name of the file with the response's body; `nil` if it is empty.
    var responseBody: String?
    var failure: Int?

    /// The request without its body.
    var request: RedactedRequest {
        RedactedRequest(method: method, url: url, headers: requestHeaders, body: Data())
    }

    /// The names of the body files.
    var bodies: [String] { [requestBody, responseBody].compactMap { $0 } }

    var json: JSONValue {
        var request: JSONObject = ["method": .string(method), "url": .string(url)]
        request["headers"] = Self.lines(of: requestHeaders)
        request["body"] = requestBody.map { .string($0) }
        var json: JSONObject = ["version": JSONValue(Self.version), "request": .object(request)]
        if let response {
            var object: JSONObject = ["status": JSONValue(response.status)]
            object["httpVersion"] = .string(response.httpVersion)
            object["headers"] = Self.lines(of: response.headers)
            object["body"] = responseBody.map { .string($0) }
            json["response"] = .object(object)
        }
        json["failure"] = failure.map { ["URLError": JSONValue($0)] }
        return .object(json)
    }

    private static func lines(of headers: HTTPHeaders) -> JSONValue {
        .array(headers.fields.map { "\($0.name.rawValue): \($0.value)" })
    }
}

extension CassetteDocument {
    /// Reads a document.
    ///
    /// - Throws: A ``Problem`` that describes the error.
    init(_ data: Data) throws {
        guard !data.isEmpty else { throw Problem("is empty") }
        let json: JSONValue
        do { json = try JSONValue(parsing: data) } catch { throw Problem("isn't valid JSON: \(error)") }
        guard json.object != nil else { throw Problem("isn't a JSON object") }
        guard let version = json["version"].int else { throw Problem("has no numeric version") }
        guard version == Self.version else {
            throw Problem("has version \(version); this version of TargetKitTesting reads version \(Self.version)")
        }
        method = try Self.string("request.method", in: json)
        url = try Self.string("request.url", in: json)
        requestHeaders = try Self.headers("request.headers", in: json)
        requestBody = try Self.fileName("request.body", in: json)
        if json["response"] != .null {
            guard let status = json[path: "response.status"].int, (100...999).contains(status) else {
                throw Problem("has no status code at response.status")
            }
            response = RecordedResponse(
                status: status,
                httpVersion: json[path: "response.httpVersion"].string ?? "HTTP/1.1",
                headers: try Self.headers("response.headers", in: json),
                body: Data()
            )
            responseBody = try Self.fileName("response.body", in: json)
        }
        failure = json[path: "failure.URLError"].int
        guard response != nil || failure != nil else { throw Problem("has neither a response nor a failure") }
    }

    /// The error of a document, as the end of a sentence.
    struct Problem: Error {
        let text: String

        init(_ text: String) {
            self.text = text
        }
    }

    private static func string(_ path: String, in json: JSONValue) throws -> String {
        guard let text = json[path: path].string else { throw Problem("has no string \(path)") }
        return text
    }

    private static func headers(_ path: String, in json: JSONValue) throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        let lines = json[path: path]
        guard lines != .null else { return headers }
        guard let lines = lines.array else { throw Problem("has no array \(path)") }
        for (index, line) in lines.enumerated() {
            guard let text = line.string, let colon = text.firstIndex(of: ":") else {
                throw Problem("has no header field at \(path).\(index)")
            }
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers.add(HTTPHeaderName(rawValue: String(text[..<colon])), value: value)
        }
        return headers
    }

    /// Returns the name of a file in the folder. Paths are rejected, because they could lead outside.
    private static func fileName(_ path: String, in json: JSONValue) throws -> String? {
        guard json[path: path] != .null else { return nil }
        let name = try string(path, in: json)
        guard CassetteFolder.isPlainName(name) else { throw Problem("has no plain file name at \(path)") }
        return name
    }
}
