// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

@Suite("The messages of failed expectations", .throttled)
struct MessageTests {
    private func message(_ pattern: RequestPattern, _ body: Data, target: (any TargetType)? = nil) throws -> String {
        let log = RequestLog()
        let url = try #require(URL(string: "https://shop.example/x"))
        log.append(RecordedRequest(method: .post, url: url, body: body, target: target))
        do {
            try log.expect([pattern])
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "The value at a key path is not shown if the members beside it say that it is a secret",
        arguments: [
            ("l.0.value", #"{"l":[{"name":"password","value":"hunter2"}]}"#),
            ("l.1.value", #"{"l":[{"name":"a","value":"b"},{"value":"hunter2","name":"password"}]}"#),
            ("l.0.value.deep.0", #"{"l":[{"name":"password","value":{"deep":["hunter2"]}}]}"#),
            ("code", #"{"grant_type":"authorization_code","code":"hunter2"}"#),
        ]
    )
    func pairs(path: String, body: String) throws {
        let message = try message(.post("/x").with(.json(path, "other")), Data(body.utf8))
        #expect(!message.contains("hunter2"))
        #expect(message.contains("found <redacted>"))
    }

    @Test("Other values at a key path are shown, also those in a large body")
    func values() throws {
        let rows = (0..<2_000).map { #"{"name":"row","value":\#($0)}"# }.joined(separator: ",")
        let message = try message(.post("/x").with(.json("l.1999.value", 7)), Data(#"{"l":[\#(rows)]}"#.utf8))
        #expect(message.contains("JSON l.1999.value: expected 7, found 1999"))
    }

    private enum Account: TargetType, Equatable {
        case login(String, String)
        case change(user: String, password: String)
        case page(number: Int)

        var baseURL: URL { URL(string: "https://shop.example") ?? URL(fileURLWithPath: "/") }
        var path: RequestPath { "/x" }
    }

    @Test("Of a target's values, those with a label that is not one of a secret are shown")
    func targets() throws {
        let login = try message(.target(Account.login("ann", "a")), Data(), target: Account.login("ann", "hunter2"))
        #expect(login.contains("Account.login has different values: value 2 (values without labels aren't shown)"))
        let expected = Account.change(user: "ann", password: "a")
        let change = try message(.target(expected), Data(), target: Account.change(user: "bob", password: "hunter2"))
        #expect(change.contains(#"user: expected "ann", found "bob", password: expected <redacted>, found <redacted>"#))
        let page = try message(.target(Account.page(number: 1)), Data(), target: Account.page(number: 2))
        #expect(page.contains(#"Account.page has different values: number: expected "1", found "2""#))
        #expect(!(login + change + page).contains("hunter2"))
    }

    @Test("Large bodies are compared by their bytes, in little time", .timeLimit(.minutes(1)))
    func largeBodies() throws {
        let text = String(repeating: "line of a text\n", count: 70_000)
        let message = try message(.post("/x").with(.body(text + "a")), Data((text + "b").utf8))
        #expect(message.contains("expected 1050001 bytes, found 1050001; the first difference is at byte 1050000"))
        #expect(message.count < 500)
    }

    @Test("Large JSON values are compared up to the first difference", .timeLimit(.minutes(1)))
    func largeValues() throws {
        let rows = JSONValue.array((0..<8_000).map { ["id": JSONValue(integerLiteral: $0)] })
        let body = try JSONEncoder().encode(["rows": (0..<8_000).map { ["id": $0 == 7_000 ? -1 : $0] }])
        let message = try message(.post("/x").with(.json("rows", rows)), body)
        #expect(message.contains("JSON rows: the first difference is at 7000.id"))
    }
}
