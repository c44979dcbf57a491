// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A target whose every property the test sets.
package struct PluginTarget: TargetType {
    package var baseURL: URL
    package var path: RequestPath
    package var method: HTTPMethod
    package var task: HTTPTask
    package var headers: HTTPHeaders
    package var validation: StatusValidation
    package var sampleResponse: SampleResponse
    package var authorization: AuthorizationScheme
    package var endsSessionOnUnauthorized: Bool
    package var showsLoading: Bool

    package init(
        baseURL: URL = .shop,
        path: RequestPath = "/things",
        method: HTTPMethod = .get,
        task: HTTPTask = .plain,
        headers: HTTPHeaders = [:],
        validation: StatusValidation = .none,
        sampleResponse: SampleResponse = .response(status: 200, data: Data("{}".utf8)),
        authorization: AuthorizationScheme = .automatic,
        endsSessionOnUnauthorized: Bool = true,
        showsLoading: Bool = true
    ) {
        self.baseURL = baseURL
        self.path = path
        self.method = method
        self.task = task
        self.headers = headers
        self.validation = validation
        self.sampleResponse = sampleResponse
        self.authorization = authorization
        self.endsSessionOnUnauthorized = endsSessionOnUnauthorized
        self.showsLoading = showsLoading
    }

    package var options: CallOptions {
        .setting(\.authorization, authorization)
            .setting(\.endsSessionOnUnauthorized, endsSessionOnUnauthorized)
            .setting(\.showsLoading, showsLoading)
    }

    package func with(_ change: (inout PluginTarget) -> Void) -> PluginTarget {
        var target = self
        change(&target)
        return target
    }
}

/// A target that sets only what is required.
package enum PlainTarget: TargetType {
    case thing(secret: String)

    package var baseURL: URL { .shop }
    package var path: RequestPath { "/things" }
}

extension URL {
    /// A base URL for calls that are not sent.
    package static let shop = URL(string: "https://shop.example/api") ?? URL(filePath: "/")
}

extension Provider {
    /// A provider whose calls are answered by the targets' samples.
    package static func stubbed(_ plugins: any Plugin..., scope: RequestScope = RequestScope()) -> Provider {
        Provider(stubClosure: { _ in .immediate }, plugins: plugins, scope: scope)
    }

    /// The result of a call as a value.
    package func result(_ target: Target) async -> Result<Response, TargetKitError> {
        await Result { () async throws(TargetKitError) in try await request(target) as Response }
    }
}

/// The values of the fields named `Authorization`, in any letter case, of the request that is sent for a target.
package func sentAuthorization(_ target: some TargetType, _ plugins: any Plugin...) async throws -> [String] {
    let provider = Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: plugins)
    let fields = try await provider.request(target).request?.allHTTPHeaderFields ?? [:]
    return fields.filter { $0.key.lowercased() == "authorization" }.map(\.value)
}

extension Result {
    package init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    package var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// A transport whose calls wait at a gate, and that records them.
package struct HeldTransport {
    package let gate = Gate()
    package let requests = Recorder<URLRequest>()
    package let answer: SampleResponse

    package init(_ answer: SampleResponse = .response(status: 200, data: Data("{}".utf8))) {
        self.answer = answer
    }

    package var transport: StubTransport {
        StubTransport { [self] request in
            requests.append(request.urlRequest)
            try await gate.waitUnlessCancelled()
            return answer
        }
    }
}
