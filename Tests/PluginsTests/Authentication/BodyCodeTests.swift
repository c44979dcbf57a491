// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import Testing

@Suite("Body code")
struct BodyCodeTests {
    @Test(
        "Numbers and strings are matched alike",
        arguments: [
            (#"{"status":401}"#, true), (#"{"status":"401"}"#, true), (#"{"status":401.0}"#, true),
            (#"{"status":4.01e2}"#, true),
            (#"{ "a": {"status": 200}, "status" : 401 }"#, true), (#"{"status":"4\u00301"}"#, true),
            (#"{"status":402}"#, false), (#"{"status":"401 "}"#, false), (#"{"status":4010}"#, false),
            (#"{"status":401.5}"#, false), (#"{"status":null}"#, false), (#"{"status":{"status":401}}"#, false),
            (#"{"status":[401]}"#, false), (#"{"other":401}"#, false), (#"[401]"#, false), ("401", false), ("", false),
            ("<html>401</html>", false), (#"{"status":"#, false), (#"{"status":401"#, true),
            (#"{"status":1e999}"#, false),
        ]
    )
    func number(_ body: String, _ isMatch: Bool) {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        #expect(BodyCode(keyPath: "status", equals: 401).matches(response) == isMatch)
        #expect(BodyCode(keyPath: "status", equals: "401").matches(response) == isMatch)
    }

    @Test(
        "Any of several codes matches",
        arguments: [(401, true), (419, true), (440, true), (200, false)]
    )
    func several(_ code: Int, _ isMatch: Bool) {
        let response = Response(statusCode: 200, data: Data(#"{"error":[{"code":\#(code)}]}"#.utf8))
        #expect(BodyCode(keyPath: "error.0.code", equals: 401, 419, 440).matches(response) == isMatch)
        #expect(BodyCode(keyPath: "error.0.code", equals: "401", "419", "440").matches(response) == isMatch)
        #expect(BodyCode(keyPath: "error.0.code", anyOf: ["401", "419", "440"]).matches(response) == isMatch)
    }

    @Test("Only bodies of the settable status codes are looked at", arguments: [200, 204, 299, 300, 400, 500])
    func statusCodes(_ status: Int) {
        let response = Response(statusCode: status, data: Data(#"{"code":"EXPIRED"}"#.utf8))
        var code = BodyCode(keyPath: "code", equals: "EXPIRED")
        #expect(code.matches(response) == (status < 300))
        code.statusCodes = 400...499
        #expect(code.matches(response) == (status == 400))
    }
}
