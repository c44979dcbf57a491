// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A place of a call where a field with a secret can be.
package struct SecretPlace: Sendable, CustomTestStringConvertible {
    package let testDescription: String
    /// A call with a field of that name and value.
    package let make: @Sendable (_ name: String, _ secret: String) -> TestTarget

    private init(_ name: String, _ make: @escaping @Sendable (String, String) -> TestTarget) {
        testDescription = name
        self.make = make
    }

    /// A place in a URL.
    private static func url(_ name: String, _ text: @escaping @Sendable (String, String) -> String) -> SecretPlace {
        SecretPlace(name) { name, secret in
            TestTarget(URL(string: text(name, secret)) ?? .example).with { $0.path = "" }
        }
    }

    /// A place in a header field of the request and of the response.
    private static func header(
        _ name: String,
        _ field: @escaping @Sendable (String, String) -> (String, String)
    ) -> SecretPlace {
        SecretPlace(name) { name, secret in
            let (name, value) = field(name, secret)
            return TestTarget(.example).with {
                $0.headers = HTTPHeaders([name: value])
                $0.sampleResponse = .response(status: 200, headers: HTTPHeaders([name: value]), data: Data())
            }
        }
    }

    /// A place in the body of the request and of the response.
    private static func body(
        _ name: String,
        type: String?,
        _ text: @escaping @Sendable (String, String) -> String
    ) -> SecretPlace {
        SecretPlace(name) { name, secret in
            let data = Data(text(name, secret).utf8)
            let headers: HTTPHeaders = type.map { ["Content-Type": $0] } ?? [:]
            return TestTarget(.example).with {
                $0.method = .post
                $0.task = .data(data, contentType: type)
                $0.sampleResponse = .response(status: 200, headers: headers, data: data)
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// JSON as the content of a JSON string.
    private static func nested(_ json: String) -> String {
        json.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    }

    private static let json = "application/json"
    private static let form = "application/x-www-form-urlencoded"
    private static let deep = (String(repeating: #"{"a":["#, count: 40), String(repeating: "]}", count: 40))

    package static let all = urls + headers + jsons + forms + markup + texts

    package static let urls = [
        url("a query") { "https://h.example/a?q=tea&\($0)=\($1)&z=1" },
        url("a query with an escaped name") { name, secret in
            let name = name.utf8.map { "%" + String($0, radix: 16) }.joined()
            return "https://h.example/a?\(name)=\(secret)"
        },
        url("an array in a query") { "https://h.example/a?user[\($0)][0]=\($1)" },
        url("JSON in a query") { "https://h.example/a?filter=" + escaped("{\"a\":1,\"\($0)\":\"\($1)\"}") },
        url("a URL in a query") { "https://h.example/a?next=" + escaped("https://i.example/?\($0)=\($1)") },
        url("a URL in the query of a URL in a query") { name, secret in
            let inner = "https://j.example/?" + escaped("next=" + escaped("https://i.example/?\(name)=\(secret)"))
            return "https://h.example/a?next=" + escaped(inner)
        },
        url("a URL in a query, escaped twice") {
            "https://h.example/a?next=" + escaped(escaped("https://i.example/?\($0)=\($1)"))
        },
        url("a URL in a query, escaped three times") {
            "https://h.example/a?next=" + escaped(escaped(escaped("https://i.example/?\($0)=\($1)")))
        },
        url("a JSON Web Token in a path") { "https://h.example/v/eyJhbGciOiJub25lIn0.\($1)\($0.count).x/b?q=1" },
        url("a form in a query") { "https://h.example/a?data=" + escaped("a=1&\($0)=\($1)") },
        url("a path parameter") { "https://h.example/a;\($0)=\($1)/b;x=1?q=1" },
        url("the user of a URL") { "https://\($0):\($1)@h.example/a" },
    ]

    package static let headers = [
        header("a header field") { ($0, $1) },
        header("Location, in the query") { ("Location", "https://h.example/cb?a=1&\($0)=\($1)") },
        header("Location, relative") { ("Location", "/cb?\($0)=\($1)") },
        header("Location, in the fragment") { ("Location", "https://h.example/cb#\($0)=\($1)") },
        header("Link") { ("Link", "<https://h.example/?page=2&\($0)=\($1)>; rel=\"next\", </?\($0)=\($1)>; rel=last") },
        header("Link, the user") { ("Link", "<https://\($0):\($1)@h.example/?page=2>; rel=\"next\"") },
        header("Referer") { ("Referer", "https://u:\($1)@h.example/?\($0)=\($1)") },
        header("Refresh") { ("Refresh", "0; url=/next?\($0)=\($1)") },
        header("parameters of a field") { ("X-Debug", "a=1; \($0)=\($1); b=2") },
        header("quoted parameters of a field") { ("X-Debug", "a=\"1\", \($0)=\"\($1)\"") },
        header("JSON in a field") { ("X-Debug", "{\"a\":{\"\($0)\":\"\($1)\"}}") },
        header("credentials in a field of another name") { ("X-Forwarded-With", "Bearer \($1)\($0.count)") },
        header("credentials after two spaces") { ("X-Forwarded-With", "Bearer  \($1)\($0.count)") },
        header("credentials after a tab") { ("X-Forwarded-With", "a; bearer\t\($1)\($0.count)") },
        header("a cookie that is set") { ("Set-Cookie", "\($0)=\($1); Path=/") },
        header("a cookie") { ("Cookie", "a=b; \($0)=\($1)") },
        header("the content type") { ("Content-Type", "text/plain; \($0)=\($1)") },
    ]

    package static let jsons = [
        body("JSON", type: json) { "{\"a\":1,\"\($0)\":\"\($1)\",\"b\":2}" },
        body("JSON without a type", type: nil) { "{\"\($0)\" : \"\($1)\"}" },
        body("a number of JSON", type: json) { "{\"\($0)\":7.\($1.utf8.map { "\($0)" }.joined())}" },
        body("an object of JSON", type: json) { "{\"\($0)\":{\"id\":[\"\($1)\",{\"x\":\"\($1)\"}]},\"b\":2}" },
        body("an array of JSON", type: json) { "{\"\($0)\":[\"\($1)\",\"\($1)\"]}" },
        body("JSON at depth", type: json) { "\(deep.0){\"\($0)\":\"\($1)\"}\(deep.1)" },
        body("JSON with an escaped name", type: json) { name, secret in
            "{\"" + name.utf8.map { "\\u00" + String($0, radix: 16) }.joined() + "\":\"\(secret)\"}"
        },
        body("JSON with escapes in the value", type: json) { "{\"\($0)\":\"\\\"\\\\\($1)\\\"\",\"b\":\"\\\"\"}" },
        body("JSON in a string of JSON", type: json) { "{\"p\":\"" + nested("{\"\($0)\":\"\($1)\"}") + "\"}" },
        body("JSON in a string in a string of JSON", type: json) {
            "{\"p\":\"" + nested("{\"q\":\"" + nested("[{\"\($0)\":\"\($1)\"}]") + "\"}") + "\"}"
        },
        body("JSON in six strings", type: json) { name, secret in
            (0..<6).reduce("{\"\(name)\":\"\(secret)\"}") { text, _ in "{\"p\":\"" + nested(text) + "\"}" }
        },
        body("a URL in JSON", type: json) { "{\"next\":\"https:\\/\\/u:\($1)@h.example\\/?a=1&\($0)=\($1)\"}" },
        body("a form in JSON", type: json) { "{\"body\":\"a=1&\($0)=\($1)\"}" },
        body("a name and its value in JSON", type: json) { "[{\"name\":\"\($0)\",\"value\":\"\($1)\"}]" },
        body("a value and its name in JSON", type: json) { "[{\"value\":\"\($1)\",\"name\":\"\($0)\"}]" },
        body("a key and its value in JSON", type: json) { "[{\"key\":\"\($0)\",\"value\":\"\($1)\"}]" },
        body("a type and its value in JSON", type: json) { "[{\"type\":\"\($0)\",\"value\":\"\($1)\"}]" },
        body("short names of a name and its value", type: json) { "[{\"k\":\"\($0)\",\"v\":\"\($1)\"}]" },
        body("pairs in arrays of JSON", type: json) { "{\"a\":[[\"id\",\"7\"], [ \"\($0)\" , \"\($1)\" ]]}" },
        body("an escaped URL in JSON", type: json) {
            "{\"next\":\"https://h.example/?next=" + escaped("https://i.example/?\($0)=\($1)") + "\"}"
        },
        body("JSON that is cut off", type: json) { "{\"a\":[{\"\($0)\":\"\($1)" },
        body("lines of JSON", type: "application/x-ndjson") { "{\"a\":1}\n{\"\($0)\":\"\($1)\"}\n{\"b\":2}" },
        body("server-sent events", type: "text/event-stream") { "event: a\ndata: {\"\($0)\":\"\($1)\"}\n\n" },
        body("JSON of another type", type: "text/html") { "{\"\($0)\":\"\($1)\"}" },
        body("JSON of a form's type", type: form) { "{\"\($0)\":\"\($1)\"}" },
    ]

    package static let forms = [
        body("a form", type: form) { "a=1&\($0)=\($1)&b=2" },
        body("a form without a type", type: nil) { "\($0)=\($1)" },
        body("an array of a form", type: form) { "a[][b]=1&user%5B\($0)%5D=\($1)%20x&b=2" },
        body("JSON in a form", type: form) { "p=" + escaped("{\"\($0)\":\"\($1)\"}") + "&b=2" },
        body("a URL in a form", type: form) { "p=" + escaped("https://u:\($1)@h.example?\($0)=\($1)") },
        body("a multipart form", type: "multipart/form-data; boundary=b") {
            "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)\r\n--b--\r\n"
        },
        body("a multipart form of another type", type: "text/plain") {
            "--b\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)\r\n--b--\r\n"
        },
        SecretPlace("parts of a multipart form") { name, secret in
            let form: MultipartForm = [.text(secret, name: name), .json([name: secret], name: "json")]
            return TestTarget(.example).with {
                $0.method = .post
                $0.task = .multipart(form)
            }
        },
    ]

    package static let markup = [
        body("XML", type: "application/xml") { "<a><b x=\"1\">t</b><ns:\($0) y='2'>\($1)</ns:\($0)></a>" },
        body("an element within a secret one", type: "application/xml") { "<\($0)><v>\($1)</v></\($0)>" },
        body("CDATA", type: "text/xml") { "<\($0)><![CDATA[\($1)]]></\($0)>" },
        body("an attribute of XML", type: "text/xml") { "<user name=\"anna\" \($0) = '\($1)'/>" },
        body("an input of HTML", type: "text/html") { "<input type=hidden name=\"\($0)\" value=\"\($1)\">" },
        body("an input of HTML, value first", type: "text/html") { "<input value=\($1) name=\($0)>" },
        body("meta data of HTML", type: "text/html") { "<meta name=\"\($0)\" content=\"\($1)\" />" },
        body("a link of HTML", type: "text/html") { "<a href=\"/reset?a=1&\($0)=\($1)\">reset</a>" },
        body("a script of HTML", type: "text/html") { "<script>var config = { \($0): '\($1)', a: 1 }</script>" },
        body("a member of XML-RPC", type: "text/xml") {
            "<struct><member><name>\($0)</name>\n<value><string>\($1)</string></value></member></struct>"
        },
        body("a key and its value in XML", type: "text/xml") {
            "<Tag><Key>\($0)</Key><Value>\($1)</Value></Tag>"
        },
        body("a property list", type: "text/xml") { "<dict><key>\($0)</key>\n<string>\($1)</string></dict>" },
    ]

    package static let texts = [
        body("assignments", type: "text/plain") { "export A=1\nexport \($0)=\($1)\n" },
        body("YAML", type: "application/yaml") { "a: 1\n\($0): \($1)\nb: 2" },
        body("header fields", type: "text/plain") { "GET / HTTP/1.1\r\n\($0): Digest a=\"b\", c=\"\($1)\"\r\n\r\n" },
        body("a dictionary of Python", type: "text/plain") { "{'a': 1, '\($0)': '\($1)'}" },
        body("a hash of Ruby", type: "text/plain") { "{\"a\"=>1, '\($0)' => '\($1)', \($0): \"\($1)\"}" },
        body("a URL in a text", type: "text/plain") { "see https://u:\($1)@h.example/?\($0)=\($1)." },
        body("a URL between angle brackets", type: "text/plain") { "see <https://u:\($1)@h.example/a?\($0)=\($1)>" },
        body("a JSON Web Token between angle brackets", type: "text/plain") {
            "see <eyJhbGciOiJub25lIn0.\($1)\($0.count).x>"
        },
        body("credentials in a text", type: "text/plain") { "refused Bearer \($1)\($0.count)" },
    ]
}
