// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Targets", .throttled)
struct TargetTypeTests {
    enum Users: RoutedTarget {
        case user(String)
        case create([String: Int])

        var baseURL: URL { .example }
        var route: Route {
            switch self {
            case .user(let name): .get("/users/\(name)")
            case .create(let user): .post("/users", .json(user))
            }
        }
    }

    struct Minimal: TargetType {
        var baseURL: URL { .example }
        var path: RequestPath { "/x" }
    }

    @Test("A target needs only a base URL and a path")
    func defaults() {
        let target = Minimal()
        #expect(target.method == .get)
        #expect(target.headers == [:])
        #expect(target.validation == .successCodes)
        #expect(target.options.timeout == .none)
        #expect(!target.options.sharesInFlight && target.options.decoder == nil && target.options.envelope == nil)
        #expect(target.options.headers == [:])
        #expect(target.sampleData.isEmpty)
        guard case .response(200, let headers, let data) = target.sampleResponse else {
            Issue.record("the default sample is a response of status 200")
            return
        }
        #expect(headers == [:] && data.isEmpty)
    }

    @Test("A routed target says method, path and task in one switch")
    func routed() throws {
        let get = try Endpoint(target: Users.user("a b")).urlRequest()
        #expect(get.httpMethod == "GET")
        #expect(get.url?.absoluteString == "https://api.example.com/v1/users/a%20b")
        let post = try Endpoint(target: Users.create(["age": 3])).urlRequest()
        #expect(post.httpMethod == "POST")
        #expect(post.httpBody == Data(#"{"age":3}"#.utf8))
    }

    @Test(
        "Validation accepts what it says",
        arguments: [
            (.none, [200, 404, 500], []), (.successCodes, [200, 204, 299], [199, 300, 404]),
            (.successAndRedirectCodes, [200, 302, 399], [199, 400]), (.codes([200, 404]), [200, 404], [201, 500]),
            (.codes(200..<203), [200, 202], [203]),
        ] as [(StatusValidation, [Int], [Int])]
    )
    func validation(_ validation: StatusValidation, accepted: [Int], refused: [Int]) {
        #expect(accepted.allSatisfy(validation.accepts))
        #expect(!refused.contains(where: validation.accepts))
    }
}
