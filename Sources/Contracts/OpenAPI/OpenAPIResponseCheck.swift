// SPDX-License-Identifier: MIT
import TargetKitJSON
import TargetKitTesting

/// Checks the responses of one operation.
struct OpenAPIResponseCheck {
    let document: OpenAPIDocument
    let operation: OpenAPIOperation

    /// The differences between a response and the document, one line each.
    ///
    /// - Throws: An error if a reference of the document is unresolvable.
    func differences(status: Int, headers: HTTPHeaders, body: Data) throws -> [String] {
        guard let responses = operation.node["responses"] else { return ["the operation has no responses"] }
        let keys = ["\(status)", "\(status / 100)XX", "\(status / 100)xx", "default"]
        guard let node = keys.lazy.compactMap({ responses[$0] }).first else {
            let names = responses.members.map(\.key).joined(separator: ", ").excerpt(200)
            return ["the operation has no response \(status); it has \(names.isEmpty ? "none" : names)"]
        }
        let response = try document.resolved(node)
        let found = try headerDifferences(headers, of: response)
        let hasBody = operation.method != "HEAD" && status != 204 && status != 304 && status >= 200
        guard hasBody, let content = response["content"], !content.members.isEmpty else { return found }
        return found + (try bodyDifferences(body, type: headers[.contentType], of: content))
    }

    private func headerDifferences(_ headers: HTTPHeaders, of response: OpenAPINode) throws -> [String] {
        try (response["headers"]?.members ?? []).compactMap { name, node in
            let isRequired = try document.resolved(node).value["required"].bool == true
            guard isRequired, headers[HTTPHeaderName(rawValue: name)] == nil else { return nil }
            return "the header field \(name) is missing, but required (#\(node.pointer.text))"
        }
    }

    private func bodyDifferences(_ body: Data, type: String?, of content: OpenAPINode) throws -> [String] {
        let names = content.members.map(\.key).joined(separator: ", ").excerpt(200)
        guard !body.isEmpty else { return ["there is no body, expected \(names) (#\(content.pointer.text))"] }
        guard let media = media(type, in: content) else {
            let found = type.map { "the content type is \($0.excerpt(80).inOneLine)" } ?? "there is no content type"
            return ["\(found), expected \(names) (#\(content.pointer.text))"]
        }
        guard isJSON(type ?? media.key), let schema = media.node["schema"] else { return [] }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body)
        } catch {
            return ["the body isn't valid JSON: \(error)"]
        }
        var check = SchemaCheck(document)
        let problems = check.differences(of: value, from: schema)
        guard !problems.isEmpty else { return [] }
        let shown = MessageText.redacted(value)
        return problems.map { $0.line(in: shown) }
    }

    /// The media type object for a content type, which has the same type or the narrowest range. Without a content
    /// type, it is the only JSON type.
    private func media(_ type: String?, in content: OpenAPINode) -> (key: String, node: OpenAPINode)? {
        let members = content.members
        guard let type = type?.mediaType else {
            let json = members.filter { isJSON($0.key) }
            return json.count == 1 ? json.first : nil
        }
        let ranges = [type, type.prefix { $0 != "/" } + "/*", "*/*"]
        return ranges.lazy.compactMap { range in members.first { $0.key.mediaType == range } }.first
    }

    private func isJSON(_ type: String) -> Bool {
        let type = type.mediaType
        return type.hasSuffix("/json") || type.hasSuffix("+json")
    }
}
