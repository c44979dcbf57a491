// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A target whose every property the test sets.
struct PluginTarget: TargetType {
    var baseURL = URL.shop
    var path: RequestPath = "/things"
    var method = HTTPMethod.get
    var task = HTTPTask.plain
    var headers: HTTPHeaders = [:]
    var validation = StatusValidation.none
    var sampleResponse = SampleResponse.response(status: 200, data: Data("{}".utf8))
    var authorization = AuthorizationScheme.automatic
    var endsSessionOnUnauthorized = true
    var showsLoading = true

    var options: CallOptions {
        .setting(\.authorization, authorization)
            .setting(\.endsSessionOnUnauthorized, endsSessionOnUnauthorized)
            .setting(\.showsLoading, showsLoading)
    }

    func with(_ change: (inout PluginTarget) -> Void) -> PluginTarget {
        var target = self
        change(&target)
        return target
    }
}

/// A target that sets only what is required.
enum PlainTarget: TargetType {
    case thing(secret: String)

    var baseURL: URL { .shop }
    var path: RequestPath { "/things" }
}

/// An error without meaning.
struct Boom: Error, Equatable {}

extension URL {
    /// A base URL for calls that are not sent.
    static let shop = URL(string: "https://shop.example/api") ?? URL(filePath: "/")
}

extension Provider {
    /// A provider whose calls are answered by the targets' samples.
    static func stubbed(_ plugins: any Plugin..., scope: RequestScope = RequestScope()) -> Provider {
        Provider(stubClosure: { _ in .immediate }, plugins: plugins, scope: scope)
    }

    /// The result of a call as a value.
    func result(_ target: Target) async -> Result<Response, TargetKitError> {
        await Result { () async throws(TargetKitError) in try await request(target) as Response }
    }
}

/// The values of the fields named `Authorization`, in any letter case, of the request that is sent for a target.
func sentAuthorization(_ target: some TargetType, _ plugins: any Plugin...) async throws -> [String] {
    let provider = Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: plugins)
    let fields = try await provider.request(target).request?.allHTTPHeaderFields ?? [:]
    return fields.filter { $0.key.lowercased() == "authorization" }.map(\.value)
}

extension Result {
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// A transport whose calls wait at a gate, and that records them.
struct HeldTransport {
    let gate = Gate()
    let requests = Recorder<URLRequest>()
    let answer: SampleResponse

    init(_ answer: SampleResponse = .response(status: 200, data: Data("{}".utf8))) {
        self.answer = answer
    }

    var transport: StubTransport {
        StubTransport { [self] request in
            requests.append(request.urlRequest)
            try await gate.waitUnlessCancelled()
            return answer
        }
    }
}
