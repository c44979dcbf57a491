// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Secrets in header fields, query and body, on their way through whole calls: no text that is made of the failure has
/// them.
@Suite("Secrets in errors", .throttled, .timeLimit(.minutes(2)))
struct ErrorSecretsTests {
    typealias Kind = TargetKitError.Kind

    struct Login: TargetType {
        var password = "s3cret"
        var sampleResponse: SampleResponse
        var options = CallOptions()
        var baseURL: URL { URL(string: "https://user:s3cret@h.example/v1?key=s3cret#s3cret") ?? .example }
        var path: RequestPath { "/login" }
        var method: HTTPMethod { .post }
        var validation: StatusValidation { .successCodes }
        var headers: HTTPHeaders { ["Authorization": "Bearer s3cret", "X-Plain": "s3cret"] }
        var task: HTTPTask {
            .json(["password": password, "note": "s3cret"]).query(["token": "s3cret", "q": "s3cret"])
        }
    }

    private static func sample(_ kind: Kind) -> SampleResponse {
        let error = ErrorTextsTests.error(kind)
        if let code = (error.underlying as? URLError)?.code {
            var info: [String: Any] = [
                NSURLErrorFailingURLErrorKey: URL(string: "https://h.example/?token=s3cret") as Any,
                NSLocalizedDescriptionKey: "s3cret", NSUnderlyingErrorKey: NSError(domain: "s3cret", code: 7),
            ]
            if kind == .notCached { info[FailureMark.notCached] = true }
            return .failure(URLError(code, userInfo: info))
        }
        let echo = #"{"code":7,"message":"","data":{"id":"s3cret","echo":"Bearer s3cret","s3cret":1}}"#
        return .response(
            status: error.response?.statusCode ?? 200,
            headers: ["Set-Cookie": "id=s3cret", "X-Echo": "s3cret"],
            data: Data(echo.utf8)
        )
    }

    /// The failure of a call, of that kind.
    private func error(_ kind: Kind) async throws -> TargetKitError {
        struct Value: Decodable { var id: Int }
        struct Unsayable: Error { var token = "s3cret" }
        let provider = Provider<Login>(
            requestClosure: { endpoint in
                if kind == .unknown { throw TargetKitError(stage: .transport, underlying: Unsayable()) }
                if kind == .unreadableFile {
                    throw InvalidRequest.unreadableFile(path: "https://h.example/?token=s3cret")
                }
                return try endpoint.urlRequest()
            },
            stubClosure: { _ in .immediate }
        )
        var target = Login(sampleResponse: Self.sample(kind))
        switch kind {
        case .shutDown: await provider.scope.shutdown(grace: .zero)
        case .invalidRequest: target.options.timeout = .exchange(.seconds(-1))
        default: break
        }
        do {
            switch kind {
            case .decoding: _ = try await provider.request(target, as: Value.self, atKeyPath: "data")
            case .rejected: _ = try await provider.request(target, options: .setting(\.envelope, CodeMessageData()))
            case .cancelled:
                try await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await provider.request(target)
                }.value
            default: _ = try await provider.request(target)
            }
        } catch let error as TargetKitError {
            return error
        }
        throw Boom()
    }

    @Test(
        "Of each kind, in either language, for the person, for the developer and for NSError",
        arguments: Kind.allCases
    )
    func everyKind(kind: Kind) async throws {
        let error = try await error(kind)
        #expect(error.kind == kind)
        var texts = [error.description, "\(error)", String(reflecting: error), error.localizedDescription]
        for language in [ErrorTexts.english, .simplifiedChinese, .system] {
            texts += ErrorTexts.Piece.allCases.map { error.text($0, in: language) }
        }
        texts += [error.errorDescription, error.failureReason, error.recoverySuggestion].compactMap { $0 }
        texts += (error as NSError).userInfo.filter { $0.key != NSUnderlyingErrorKey }.map { "\($0.key)=\($0.value)" }
        #expect(texts.count >= 16)
        for text in texts {
            #expect(!text.isEmpty)
            #expect(!text.contains("s3cret"), "\(kind): \(text)")
            #expect(!text.contains("\n"))
        }
    }
}
