// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Targets", .throttled)
struct TargetTests {
    @Test(
        "The URL of a target is the base URL with the path, unless that is empty",
        arguments: [
            ("https://example.com", "/a", "https://example.com/a"),
            ("https://example.com/v1", "users/ann", "https://example.com/v1/users/ann"),
            ("https://example.com/v1?x=1", "", "https://example.com/v1?x=1"),
            ("https://example.com", "", "https://example.com"),
            ("https://example.com", "a b", "https://example.com/a%20b"),
        ]
    )
    func url(base: String, path: String, expected: String) throws {
        let call = Call(baseURL: try #require(URL(string: base)), path: path)
        #expect(URL(target: call).absoluteString == expected)
    }

    struct Smallest: TargetType {
        let baseURL = URL.of("https://example.com")
        let path = "/"
        let method = Moya.Method.get
        let task = Task.requestPlain
        let headers: [String: String]? = nil
    }

    @Test("A target has defaults for its sample and its validation")
    func defaults() {
        #expect(Smallest().sampleData.isEmpty)
        #expect(Smallest().validationType == .none)
    }

    @Test(
        "Validations are equal if they accept the same kind of codes",
        arguments: [
            (ValidationType.none, ValidationType.none, true),
            (.successCodes, .successCodes, true),
            (.successAndRedirectCodes, .successAndRedirectCodes, true),
            (.customCodes([1]), .customCodes([1]), true),
            (.customCodes([1]), .customCodes([2]), false),
            (.none, .successCodes, false),
            (.customCodes([]), .none, false),
        ]
    )
    func validation(left: ValidationType, right: ValidationType, isEqual: Bool) {
        #expect((left == right) == isEqual)
    }

    @Test("A multi-target has the properties of its target")
    func multiTarget() {
        let call = Call(
            path: "/multi",
            method: .post,
            headers: ["A": "b"],
            validationType: .customCodes([204]),
            authorizationType: .basic
        )
        let target = MultiTarget(call)
        #expect(target.baseURL == call.baseURL)
        #expect(target.path == "/multi")
        #expect(target.method == .post)
        #expect(target.headers == ["A": "b"])
        #expect(target.validationType == .customCodes([204]))
        #expect(target.sampleData == call.sampleData)
        #expect(target.authorizationType == .basic)
        #expect(target.target is Call)
        guard case .requestPlain = target.task else {
            Issue.record("not the target's task")
            return
        }
        #expect(MultiTarget(GitHub.zen).authorizationType == nil)
    }

    @Test(
        "POST, PUT, PATCH and CONNECT support multipart bodies",
        arguments: [
            (Moya.Method.get, false), (.head, false), (.delete, false), (.options, false), (.trace, false),
            (.query, false), (.post, true), (.put, true), (.patch, true), (.connect, true),
            (Moya.Method(rawValue: "LINK"), false),
        ]
    )
    func multipart(method: Moya.Method, isSupported: Bool) {
        #expect(method.supportsMultipart == isSupported)
    }

    @Test("The parts of a form keep what they were created with")
    func formData() {
        let part = MultipartFormData(provider: .data(Data([1])), name: "n", fileName: "f", mimeType: "m/t")
        #expect(part.name == "n")
        #expect(part.fileName == "f")
        #expect(part.mimeType == "m/t")
        #expect(part.provider == .data(Data([1])))
        #expect(MultipartFormData(provider: .data(Data()), name: "n") != part)
    }
}
