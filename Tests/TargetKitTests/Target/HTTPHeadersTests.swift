// SPDX-License-Identifier: MIT
import TargetKit
import Testing

@Suite("HTTPHeaders")
struct HTTPHeadersTests {
    @Test("Names are compared without regard to case, and keep the way they were written")
    func caseInsensitive() {
        var headers: HTTPHeaders = ["Content-Type": "a", "X-One": "1"]
        #expect(headers["content-type"] == "a")
        headers["CONTENT-TYPE"] = "b"
        #expect(headers.count == 2)
        #expect(headers.map(\.name.rawValue) == ["CONTENT-TYPE", "X-One"])
        headers["x-one"] = nil
        #expect(headers["X-One"] == nil)
        #expect(headers.count == 1)
    }

    @Test("Adding keeps the fields that are there; reading joins them, writing replaces them all")
    func repeated() {
        var headers: HTTPHeaders = ["A": "1", "B": "x", "a": "2"]
        headers.add("A", value: "3")
        #expect(headers["a"] == "1, 2, 3")
        #expect(headers.values(for: "A") == ["1", "2", "3"])
        headers["A"] = "only"
        #expect(headers.map(\.value) == ["only", "x"])
        var cookies: HTTPHeaders = ["Cookie": "a=1"]
        cookies.add("cookie", value: "b=2")
        #expect(cookies["Cookie"] == "a=1; b=2")
    }

    @Test("The order of different names does not count for equality, that of one name's values does")
    func equality() {
        let one: HTTPHeaders = ["A": "1", "B": "2"]
        let other: HTTPHeaders = ["b": "2", "a": "1"]
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(
            HTTPHeaders(dictionaryLiteral: ("A", "1"), ("A", "2"))
                != HTTPHeaders(dictionaryLiteral: ("A", "2"), ("A", "1"))
        )
        #expect(one != ["A": "1"])
        #expect(one != ["A": "1", "B": "3"])
    }

    @Test("Merging sets the other's fields over these")
    func merging() {
        let merged = HTTPHeaders(dictionaryLiteral: ("A", "1"), ("B", "2")).merging(["b": "3", "C": "4"])
        #expect(merged == ["A": "1", "b": "3", "C": "4"])
    }

    @Test("The dictionary has each name once, with its values joined")
    func dictionary() {
        #expect(
            HTTPHeaders(dictionaryLiteral: ("A", "1"), ("a", "2"), ("B", "3")).dictionary == ["A": "1, 2", "B": "3"]
        )
    }

    @Test(
        "Printing them shows no secret",
        arguments: ["Authorization", "cookie", "Set-Cookie", "X-API-Key", "Proxy-Authorization"]
    )
    func redaction(name: String) {
        var headers: HTTPHeaders = ["Accept": "text/plain"]
        headers[name] = "s3cret"
        #expect(!headers.description.contains("s3cret"))
        #expect(headers.description.contains("text/plain"))
    }
}
