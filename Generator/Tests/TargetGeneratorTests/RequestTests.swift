// SPDX-License-Identifier: MIT
import Testing

@testable import TargetGenerator

@Suite("Requests are written as the document means them")
struct RequestTests {
    private let responses = #"responses: {"204": {description: none}}"#

    private func text(_ parameters: String) throws -> (text: String, notes: [Note]) {
        let output = try generate("paths: {\"/a/{p}\": {get: {parameters: [\(parameters)], \(responses)}}}")
        return (output.files.map(\.text).joined(), output.notes)
    }

    @Test("Dates keep their fractions of a second", arguments: ["path", "query", "header", "cookie"])
    func dates(location: String) throws {
        let text = try text("{name: p, in: \(location), required: true, schema: {type: string, format: date-time}}")
            .text
        #expect(!text.contains(".formatted(.iso8601)") && !text.contains("dates: .iso8601"), "\(text)")
        #expect(text.contains("dates: .custom { try RFC3339.checked($0) }"))
    }

    @Test(
        "The value of a cookie is escaped",
        arguments: [
            ("{type: string}", true, #""c=\(c.cookieText)""#),
            ("{type: string}", false, #"c.map { "c=\($0.cookieText)" }"#),
            ("{type: integer}", false, #"c.map { "c=\("\($0)".cookieText)" }"#),
            ("{type: array, items: {type: string}}", true, #"c.map { $0.cookieText }.joined(separator: ",")"#),
            ("{type: array, items: {type: string}}", false, #"$0.map { $0.cookieText }.joined(separator: ",")"#),
        ]
    )
    func cookies(schema: String, isRequired: Bool, part: String) throws {
        let text = try text("{name: c, in: cookie, required: \(isRequired), schema: \(schema)}").text
        #expect(text.contains(part), "\(text)")
    }

    @Test("What has no form in a query is said")
    func nestedValues() throws {
        let (text, notes) = try text(
            "{name: i, in: query, schema: {type: array, items: {type: object, properties: {p: {type: integer}}}}}"
        )
        #expect(text.contains(#"["i": i?.map { JSONText($0) }]"#), "\(text)")
        #expect(notes.contains { $0.construct == "nested values in query" })
        let other = try self.text(
            "{name: i, in: query, style: deepObject, schema: {type: object, properties: {p: {type: object, properties: {q: {type: string}}}}}}"
        )
        #expect(other.notes.contains { $0.construct == "nested values in query" })
    }

    @Test("Base64 in a body that isn't JSON is sent as Base64", arguments: ["application/octet-stream", "text/plain"])
    func base64(type: String) throws {
        let output = try generate(
            """
            paths: {/a: {put: {requestBody: {required: true, content: {\(type): {schema: {type: string, format: byte}}}}, \(responses)}}}
            """
        )
        #expect(output.files.contains { $0.text.contains(".data(body.base64EncodedData(), contentType: \"\(type)\")") })
    }

    @Test("An optional property of a body can be sent as null")
    func nulls() throws {
        let output = try generate(
            """
            paths: {/a: {patch: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}, \(responses)}}}
            components: {schemas: {A: {type: object, properties: {b: {type: [string, 'null']}, c: {type: string}}}}}
            """
        )
        let text = try #require(output.files.first { $0.path == "Models/A.swift" }).text
        #expect(
            text.contains("public init(b: String? = nil, c: String? = nil, nulls: Set<NullableProperty> = [])"),
            "\(text)"
        )
        #expect(text.contains("case b\n"))
        #expect(text.contains("if b == nil, nulls.contains(.b) {"))
    }

    @Test(
        "Pages and streams are the last choice of several media types",
        arguments: [
            (["text/event-stream", "application/octet-stream"], "`Data`."), (["text/html", "image/png"], "`Data`."),
            (["text/event-stream", "text/plain"], "text."), (["application/x-ndjson", "application/json"], "`Int`."),
        ]
    )
    func preferences(types: [String], value: String) throws {
        let contents = types.map { "\($0): {schema: {type: integer}}" }.joined(separator: ", ")
        let output = try generate(
            "paths: {/a: {get: {responses: {\"200\": {description: ok, content: {\(contents)}}}}}}"
        )
        #expect(output.files.contains { $0.text.contains("- Returns: \(value)") })
    }

    @Test(
        "A response that isn't decoded is said, with the call that reads it",
        arguments: [
            ("text/event-stream", "serverSentEvents()"), ("application/x-ndjson", "jsonLines(of:)"),
            ("application/xml", "is not decoded"), ("application/x-www-form-urlencoded", "is not decoded"),
            ("multipart/form-data", "is not decoded"),
        ]
    )
    func undecoded(type: String, part: String) throws {
        let output = try generate(
            """
            paths: {/a: {get: {responses: {"200": {description: ok, content: {\(type): {schema: {type: object, properties: {b: {type: string}}}}}}}}}}
            """
        )
        #expect(output.notes.contains { $0.message.contains(part) }, "\(output.notes)")
    }

    @Test("The base URL is the default server, and the document's are the others")
    func baseURL() throws {
        let output = try generate(
            #"servers: [{url: "https://{own}.example", variables: {own: {default: you}}}]"#
                + "\npaths: {/a: {get: {\(responses)}}}"
        ) { $0.baseURL = "https://own.example" }
        let text = try #require(output.files.first { $0.path == "ShopServers.swift" }).text
        #expect(text.contains("EnvironmentStore(default: base, others: [server1])"), "\(text)")
        #expect(output.notes.contains { $0.construct == "server variable" && $0.message.contains("{own}") })
    }

    @Test("A case doesn't repeat its tag, unless its name would be another's")
    func caseNames() throws {
        let paths = ["gists/list", "gists/check-is-starred", "gists/get", "get"].enumerated().map { index, id in
            "  /\(index): {get: {tags: [gists], operationId: \(id), \(responses)}}\n"
        }
        let output = try generate("paths:\n" + paths.joined())
        let text = try #require(output.files.first { $0.path == "GistsAPI.swift" }).text
        for line in ["case list\n", "case checkIsStarred\n", "case gistsGet\n", "case get\n"] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
    }

    @Test("A property of a struct for a call has no name of the target's members")
    func typedLabels() throws {
        let output = try generate(
            "paths: {/a: {get: {parameters: [{name: options, in: query, schema: {type: string}}], \(responses)}}}"
        ) { $0.style = .typed }
        #expect(output.files.contains { $0.text.contains("public var queryOptions: String?") })
    }

    @Test("Many operations without tags are grouped by the first segment in which their paths differ")
    func segments() throws {
        let paths = (1...40).map { "  /v1/\($0 < 20 ? "users" : "orders")/\($0): {get: {\(responses)}}\n" }
        let output = try generate("paths:\n" + paths.joined())
        #expect(output.files.map(\.path).filter { $0.hasSuffix("API.swift") } == ["OrdersAPI.swift", "UsersAPI.swift"])
    }

    @Test("A deprecated operation is deprecated in Swift", arguments: GenerationOptions.Style.allCases)
    func deprecation(style: GenerationOptions.Style) throws {
        let output = try generate("paths: {/a: {get: {deprecated: true, \(responses)}}}") { $0.style = style }
        #expect(output.files.contains { $0.text.contains("@available(*, deprecated)\n") })
    }

    @Test("The test of a path with JSON expects JSON")
    func jsonPath() throws {
        let output = try generate(
            """
            paths: {"/a/{p}": {get: {parameters: [{name: p, in: path, required: true, content: {application/json: {schema: {type: string}}}}], \(responses)}}}
            """
        ) { $0.tests = true }
        #expect(output.tests.contains { $0.text.contains(#""/a/\"text\"""#) }, "\(output.tests)")
    }

    @Test("Names that Swift accepts are kept, and others are said and can be given")
    func names() throws {
        let text = "paths: {/a: {get: {tags: [用户管理], operationId: 登录, \(responses)}, put: {tags: [😀], \(responses)}}}"
        let output = try generate(text)
        #expect(output.files.contains { $0.path == "用户管理API.swift" && $0.text.contains("case 登录\n") })
        #expect(output.notes.contains { $0.construct == "name" && $0.message.contains("“😀” is `ValueAPI`") })
        let named = try generate(text) { $0.names = ["😀": "smile", "用户管理": "user"] }
        #expect(
            named.files.filter { $0.path.hasSuffix("API.swift") }.map(\.path) == ["SmileAPI.swift", "UserAPI.swift"]
        )
        #expect(!named.notes.contains { $0.construct == "name" })
    }
}
