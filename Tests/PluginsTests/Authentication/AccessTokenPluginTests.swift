// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Access token")
struct AccessTokenPluginTests {
    /// The `Authorization` fields of the request that goes out for the target, in any letter case.
    private func sent(_ target: some TargetType, _ plugins: any Plugin...) async throws -> [String] {
        let response = try await Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: plugins).request(
            target
        )
        let fields = try #require(response.request).allHTTPHeaderFields ?? [:]
        return fields.filter { $0.key.lowercased() == "authorization" }.map(\.value)
    }

    @Test(
        "The scheme of the target decides what the field looks like",
        arguments: [
            (.none, []), (.bearer, ["Bearer user:pass:word"]), (.basic, ["Basic dXNlcjpwYXNzOndvcmQ="]),
            (.custom("Token"), ["Token user:pass:word"]), (.custom(""), ["user:pass:word"]),
        ] as [(AuthorizationScheme, [String])]
    )
    func schemes(_ scheme: AuthorizationScheme, _ expected: [String]) async throws {
        let plugin = AccessTokenPlugin { _ in "user:pass:word" }
        #expect(try await sent(PluginTarget(authorization: scheme), plugin) == expected)
    }

    @Test(
        "A field of the target's headers is replaced, in any letter case",
        arguments: ["Authorization", "authorization", "AUTHORIZATION"]
    )
    func replaces(_ name: String) async throws {
        let target = PluginTarget(headers: HTTPHeaders([name: "Bearer old"]))
        #expect(try await sent(target, AccessTokenPlugin { _ in "new" }) == ["Bearer new"])
    }

    @Test("Two fields that differ in letter case become one")
    func replacesBoth() async throws {
        let double = RecordingPlugin(prepare: { request, _ in
            var request = request
            request.allHTTPHeaderFields = ["authorization": "one", "AUTHORIZATION": "two", "Accept": "text/plain"]
            return request
        })
        #expect(try await sent(PluginTarget(), double, AccessTokenPlugin { _ in "new" }) == ["Bearer new"])
    }

    @Test("Without a token the request goes out as it is", arguments: [nil, ""] as [String?])
    func noToken(_ token: String?) async throws {
        #expect(try await sent(PluginTarget(), AccessTokenPlugin { _ in token }) == [])
        let target = PluginTarget(headers: ["Authorization": "Bearer own"])
        #expect(try await sent(target, AccessTokenPlugin { _ in token }) == ["Bearer own"])
    }

    @Test("A target that does not ask for a token is left alone, and the closure is not called")
    func otherTargets() async throws {
        let asked = Recorder<String>()
        let plugin = AccessTokenPlugin { target in
            asked.append("\(target)")
            return "token"
        }
        #expect(try await sent(PlainTarget.thing(secret: ""), plugin) == [])
        #expect(try await sent(PluginTarget(authorization: .none), plugin) == [])
        #expect(asked.count == 0)
    }

    @Test("The closure sees the target, and may wait")
    func perTarget() async throws {
        let plugin = AccessTokenPlugin { target in
            await Task.yield()
            return (target as? PluginTarget)?.method == .post ? "writer" : "reader"
        }
        #expect(try await sent(PluginTarget(), plugin) == ["Bearer reader"])
        #expect(try await sent(PluginTarget(method: .post), plugin) == ["Bearer writer"])
    }

    @Test("A retry goes out with the new token")
    func retry() async throws {
        let count = Tally()
        let requests = Recorder<String?>()
        let provider = Provider<PluginTarget>(
            transport: StubTransport { request in
                requests.append(request.urlRequest.value(forHTTPHeaderField: "Authorization"))
                return .response(status: 200, data: Data())
            },
            plugins: [
                AccessTokenPlugin { _ in
                    count.add()
                    return "\(count.value)"
                },
                RecordingPlugin(retry: { _, context in context.attempt == 0 ? .retry(after: .zero) : .doNotRetry }),
            ]
        )
        _ = try await provider.request(PluginTarget())
        #expect(requests.elements == ["Bearer 1", "Bearer 2"])
    }

    @Test("A closure that throws ends the call at stage request, and nothing is sent")
    func throwing() async throws {
        let recorder = RecordingPlugin()
        let provider = Provider<PluginTarget>.stubbed(AccessTokenPlugin { _ in throw Boom() }, recorder)
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying is Boom)
        #expect(recorder.events == [.process(.failure(.request))])
    }

    @Test(
        "A token that would end the field is an error, not a call without a token",
        arguments: ["a\r\nX: b", "a\nb", "a\0"]
    )
    func lineBreak(_ token: String) async throws {
        let provider = Provider<PluginTarget>.stubbed(AccessTokenPlugin { _ in token })
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying as? InvalidRequest == .invalidHeaderValue(name: "Authorization"))
    }

    @Test("Basic takes user and password apart, for targets of that scheme alone")
    func basic() async throws {
        let plugin = AccessTokenPlugin.basic { _ in try BasicCredentials(user: "Aladdin", password: "open sesame") }
        // The example of RFC 7617 §2.
        #expect(try await sent(PluginTarget(authorization: .basic), plugin) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        #expect(try await sent(PluginTarget(authorization: .bearer), plugin) == [])
        #expect(try await sent(PluginTarget(authorization: .basic), AccessTokenPlugin.basic { _ in nil }) == [])
        let both = try await sent(PluginTarget(authorization: .bearer), AccessTokenPlugin { _ in "token" }, plugin)
        #expect(both == ["Bearer token"])
    }

    @Test("A basic token without a colon is an error that does not show it")
    func noColon() async throws {
        let provider = Provider<PluginTarget>.stubbed(AccessTokenPlugin { _ in "hunter2" })
        let error = try #require(await provider.result(PluginTarget(authorization: .basic)).failure)
        #expect(error.underlying as? BasicCredentials.Problem == .noColon)
        #expect(error.description.contains("user:password"))
        #expect(!error.description.contains("hunter2"))
    }
}
