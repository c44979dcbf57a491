// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Responses", .throttled)
struct ResponseTests {
    static func response(_ text: String, status: Int = 200) -> Response {
        Response(statusCode: status, data: Data(text.utf8))
    }

    @Test("Responses are equal by status, body and head, not by request")
    func equality() throws {
        let url = try #require(URL(string: "https://example.com"))
        let response = Self.response("a")
        #expect(response == Self.response("a"))
        #expect(response == Response(statusCode: 200, data: Data("a".utf8), request: URLRequest(url: url)))
        #expect(response != Self.response("b"))
        #expect(response != Self.response("a", status: 201))
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        #expect(response != Response(statusCode: 200, data: Data("a".utf8), response: head))
    }

    @Test("The description has the status and the length")
    func description() {
        #expect(Self.response("four").description == "Status Code: 200, Data Length: 4")
        #expect(Self.response("four").debugDescription == "Status Code: 200, Data Length: 4")
    }

    @Test(
        "Filters return the response, or fail with its status",
        arguments: [
            (200, true, true, true), (299, true, true, true), (300, false, true, false), (399, false, true, false),
            (199, false, false, false), (400, false, false, false), (500, false, false, false),
        ]
    )
    func filters(status: Int, isSuccess: Bool, isRedirect: Bool, isInRange: Bool) throws {
        let response = Self.response("", status: status)
        #expect(((try? response.filterSuccessfulStatusCodes()) != nil) == isSuccess)
        #expect(((try? response.filterSuccessfulStatusAndRedirectCodes()) != nil) == isRedirect)
        #expect(((try? response.filter(statusCodes: 200..<300)) != nil) == isInRange)
        #expect(((try? response.filter(statusCodes: ...299)) != nil) == (status <= 299))
        #expect(try response.filter(statusCode: status) === response)
        #expect {
            try response.filter(statusCode: status + 1)
        } throws: { error in
            if case MoyaError.statusCode(let failed) = error { failed === response } else { false }
        }
    }

    @Test("An empty body is a JSON error by default")
    func emptyJSON() throws {
        #expect(throws: MoyaError.self) { try Self.response("").mapJSON() }
        #expect(try Self.response("").mapJSON(failsOnEmptyData: false) is NSNull)
    }

    @Test("JSON can be an object, an array or a fragment")
    func json() throws {
        #expect(try Self.response(#"{"a":1}"#).mapJSON() as? [String: Int] == ["a": 1])
        #expect(try Self.response("[1]").mapJSON() as? [Int] == [1])
        #expect(try Self.response(#""text""#).mapJSON() as? String == "text")
        #expect {
            try Self.response("<html>").mapJSON()
        } throws: { error in
            if case MoyaError.jsonMapping = error { true } else { false }
        }
    }

    @Test("Text is the whole body, or the string at a key path")
    func string() throws {
        #expect(try Self.response("text").mapString() == "text")
        #expect(try Self.response(#"{"a":{"b":"c"}}"#).mapString(atKeyPath: "a.b") == "c")
        #expect(throws: MoyaError.self) { try Self.response(#"{"a":1}"#).mapString(atKeyPath: "a") }
        #expect(throws: MoyaError.self) { try Self.response(#"{"a":1}"#).mapString(atKeyPath: "b") }
        #expect {
            try Response(statusCode: 200, data: Data([0xFF, 0xFE, 0xFF])).mapString()
        } throws: { error in
            if case MoyaError.stringMapping = error { true } else { false }
        }
    }

    static let user = #"{"login":"ann","id":7}"#

    @Test("Values are decoded from the body or from a key path")
    func map() throws {
        let ann = User(login: "ann", id: 7)
        #expect(try Self.response(Self.user).map(User.self) == ann)
        #expect(try Self.response(#"{"data":{"user":\#(Self.user)}}"#).map(User.self, atKeyPath: "data.user") == ann)
        #expect(try Self.response(#"{"data":[\#(Self.user)]}"#).map([User].self, atKeyPath: "data") == [ann])
        #expect(try Self.response(#"{"count":3}"#).map(Int.self, atKeyPath: "count") == 3)
        #expect(try Self.response(#"{"name":"ann"}"#).map(String.self, atKeyPath: "name") == "ann")
        #expect(try Self.response(#"{"ok":true}"#).map(Bool.self, atKeyPath: "ok"))
        #expect(
            try Self.response(#"{"users":[\#(Self.user)]}"#).map([String].self, atKeyPath: "users.login") == ["ann"]
        )
    }

    @Test("The given decoder is used")
    func decoder() throws {
        struct Page: Decodable, Equatable { var pageSize: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = #"{"page":{"page_size":5}}"#
        #expect(try Self.response(text).map(Page.self, atKeyPath: "page", using: decoder).pageSize == 5)
    }

    @Test("A missing key path is a JSON error, a value of another type an object error")
    func mapErrors() {
        #expect {
            try Self.response("{}").map(User.self, atKeyPath: "data")
        } throws: { error in
            if case MoyaError.jsonMapping = error { true } else { false }
        }
        #expect {
            try Self.response(#"{"login":1}"#).map(User.self)
        } throws: { error in
            if case MoyaError.objectMapping(let cause, _) = error { cause is DecodingError } else { false }
        }
        #expect {
            try Self.response(#"{"data":{"login":1}}"#).map(User.self, atKeyPath: "data")
        } throws: { error in
            if case MoyaError.objectMapping(let cause, _) = error { cause is DecodingError } else { false }
        }
    }

    struct Optional: Decodable { var name: String? }

    @Test("An empty body can be an empty object or an array of one")
    func emptyObject() throws {
        #expect(try Self.response("").map(Optional.self, failsOnEmptyData: false).name == nil)
        #expect(try Self.response("").map([Optional].self, failsOnEmptyData: false).count == 1)
        #expect(throws: MoyaError.self) { try Self.response("").map(Optional.self) }
        #expect(throws: MoyaError.self) { try Self.response("").map(User.self, failsOnEmptyData: false) }
        #expect(try Self.response("").map(Optional.self, atKeyPath: "a", failsOnEmptyData: false).name == nil)
    }

    @Test("A response with an error is a failure with both")
    func conversion() throws {
        let url = try #require(URL(string: "https://example.com"))
        let head = HTTPURLResponse(url: url, statusCode: 401, httpVersion: nil, headerFields: nil)
        let cause = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 401))
        let failure = convertResponseToResult(head, request: nil, data: Data([1]), error: cause)
        #expect(failure.error?.response?.statusCode == 401)
        #expect(failure.error?.response?.data == Data([1]))
        #expect(failure.afError?.responseCode == 401)
        #expect(convertResponseToResult(head, request: nil, data: nil, error: nil).response?.data == Data())
        #expect(convertResponseToResult(nil, request: nil, data: nil, error: cause).error?.response == nil)
        guard
            case .underlying(let error, nil)? = convertResponseToResult(nil, request: nil, data: nil, error: nil).error
        else {
            Issue.record("not a failure")
            return
        }
        #expect((error as NSError).code == NSURLErrorUnknown)
    }
}
