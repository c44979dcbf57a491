// SPDX-License-Identifier: MIT
import TestSupport

extension DocumentationPage {
    /// A line with a name of Moya, and what the compiler's error must contain.
    struct MoyaName {
        let code: String
        let replacement: String
    }

    static func moyaNames() -> [MoyaName] {
        let types = [
            ("MoyaProvider<URLTarget>", "renamed to 'Provider'"), ("MoyaError", "renamed to 'TargetKitError'"),
            ("any PluginType", "never called"), ("any RequestType", "context: RequestContext"),
            ("ValidationType", "renamed to 'StatusValidation'"), ("any AccessTokenAuthorizable", "authorization"),
            ("AuthorizationType", "AuthorizationScheme"),
            ("EndpointSampleResponse", "renamed to 'SampleResponse'"),
            ("MultipartFormData", "renamed to 'MultipartForm'"), ("Cancellable", "renamed to 'RequestHandle'"),
            ("ProgressResponse", "renamed to 'TransferProgress'"),
        ]
        let responses = [
            ("map(Int.self)", "decode(_:atKeyPath:using:failsOnEmptyData:)"),
            ("mapJSON()", "import TargetKitJSON and use json()"),
            ("mapString()", "string(atKeyPath:)"), ("mapImage()", "image()"),
            ("filterSuccessfulStatusCodes()", ".successCodes"),
            ("filterSuccessfulStatusAndRedirectCodes()", "validation"),
            ("filter(statusCodes: 200...204)", ".codes"), ("filter(statusCode: 200)", ".codes"),
        ]
        let tasks = [
            ("requestPlain", "plain"), ("requestData(Data())", "data(_:)"), ("requestJSONEncodable(1)", "json(_:)"),
            ("requestParameters(parameters: [:], encoding: .json)", "parameters(_:encoding:)"),
            ("requestCompositeData(bodyData: Data(), urlParameters: [:])", ".data(body).query(parameters)"),
            ("uploadFile(URL(filePath: \"/\"))", "upload(file:)"),
            ("parameters([:], encoding: URLEncoding.default)", "renamed to 'url'"),
            ("parameters([:], encoding: URLEncoding.queryString)", "renamed to 'query'"),
            ("parameters([:], encoding: URLEncoding.httpBody)", "renamed to 'form'"),
            ("parameters([:], encoding: JSONEncoding.default)", "renamed to 'json'"),
        ]
        let provider = "Provider<URLTarget>"
        let calls = [
            ("_ p: \(provider), _ t: URLTarget) { _ = p.requestPublisher(t) }", "responsePublisher(for:)"),
            ("_ p: \(provider), _ t: URLTarget) { _ = p.requestWithProgressPublisher(t) }", "eventPublisher(for:)"),
            (") { _ = \(provider)(stubClosure: \(provider).immediatelyStub) }", "{ _ in .immediate }"),
            (") { _ = \(provider)(stubClosure: \(provider).neverStub) }", "{ _ in .never }"),
            (") { _ = \(provider)(stubClosure: \(provider).delayedStub(1)) }", "{ _ in .delayed(.seconds(1)) }"),
        ]
        let bodies =
            types.map { (code: "_ value: \($0.0)) {}", words: $0.1) }
            + responses.map { (code: "_ response: Response) throws { _ = try response.\($0.0) }", words: $0.1) }
            + tasks.map { (code: ") -> HTTPTask { .\($0.0) }", words: $0.1) }
            + calls.map { (code: $0.0, words: $0.1) }
        return bodies.enumerated().map { MoyaName(code: "func f\($0)(\($1.code)", replacement: $1.words) }
    }
}
