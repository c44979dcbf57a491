// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Access token", .throttled, .timeLimit(.minutes(2)))
struct AccessTokenPluginTests {
    @Test(
        "The scheme of the call determines the field",
        arguments: [
            (.none, []), (.automatic, ["Bearer user:pass:word"]), (.bearer, ["Bearer user:pass:word"]),
            (.basic, ["Basic dXNlcjpwYXNzOndvcmQ="]),
            (.custom("Token"), ["Token user:pass:word"]), (.custom(""), ["user:pass:word"]),
        ] as [(AuthorizationScheme, [String])]
    )
    func schemes(_ scheme: AuthorizationScheme, _ expected: [String]) async throws {
        let plugin = AccessTokenPlugin { _ in "user:pass:word" }
        #expect(try await sentAuthorization(PluginTarget(authorization: scheme), plugin) == expected)
    }

    @Test(
        "A field among the target's headers is replaced, in any letter case",
        arguments: ["Authorization", "authorization", "AUTHORIZATION"]
    )
    func replaces(_ name: String) async throws {
        let target = PluginTarget(headers: HTTPHeaders([name: "Bearer old"]))
        #expect(try await sentAuthorization(target, AccessTokenPlugin { _ in "new" }) == ["Bearer new"])
    }

    @Test("Two fields that differ in letter case become one")
    func replacesBoth() async throws {
        let double = RecordingPlugin(prepare: { request, _ in
            var request = request
            request.allHTTPHeaderFields = ["authorization": "one", "AUTHORIZATION": "two", "Accept": "text/plain"]
            return request
        })
        #expect(try await sentAuthorization(PluginTarget(), double, AccessTokenPlugin { _ in "new" }) == ["Bearer new"])
    }

    @Test("Without a token the request is not changed", arguments: [nil, ""] as [String?])
    func noToken(_ token: String?) async throws {
        #expect(try await sentAuthorization(PluginTarget(), AccessTokenPlugin { _ in token }) == [])
        let target = PluginTarget(headers: ["Authorization": "Bearer own"])
        #expect(try await sentAuthorization(target, AccessTokenPlugin { _ in token }) == ["Bearer own"])
    }

    @Test("A call of the scheme none has no token, and the closure is not called")
    func noneScheme() async throws {
        let asked = Recorder<String>()
        let plugin = AccessTokenPlugin { target in
            asked.append("\(target)")
            return "token"
        }
        #expect(try await sentAuthorization(PluginTarget(authorization: .none), plugin) == [])
        #expect(asked.count == 0)
        #expect(try await sentAuthorization(PlainTarget.thing(secret: ""), plugin) == ["Bearer token"])
    }

    @Test("The closure gets the target, and may suspend")
    func perTarget() async throws {
        let plugin = AccessTokenPlugin { target in
            await Task.yield()
            return (target as? PluginTarget)?.method == .post ? "writer" : "reader"
        }
        #expect(try await sentAuthorization(PluginTarget(), plugin) == ["Bearer reader"])
        #expect(try await sentAuthorization(PluginTarget(method: .post), plugin) == ["Bearer writer"])
    }

    @Test("A retried call has the new token")
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

    @Test("An error of the closure ends the call with stage request, and nothing is sent")
    func throwing() async throws {
        let recorder = RecordingPlugin()
        let provider = Provider<PluginTarget>.stubbed(AccessTokenPlugin { _ in throw Boom() }, recorder)
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying is Boom)
        #expect(recorder.events == [.prepare(attempt: 0), .process(.failure(.request))])
    }

    @Test(
        "A token with a line break is an error, not a call without a token",
        arguments: ["a\r\nX: b", "a\nb", "a\0"]
    )
    func lineBreak(_ token: String) async throws {
        let provider = Provider<PluginTarget>.stubbed(AccessTokenPlugin { _ in token })
        let error = try #require(await provider.result(PluginTarget()).failure)
        #expect(error.stage == .request)
        #expect(error.underlying as? InvalidRequest == .invalidHeaderValue(name: "Authorization"))
    }

    @Test("A token replaces user and password, wherever the plugins are in the array", arguments: [true, false])
    func besideCredentials(_ isReversed: Bool) async throws {
        let plugins: [any Plugin] = [AccessTokenPlugin { _ in "token" }, CredentialsPlugin { _ in throw Boom() }]
        let provider = Provider<PluginTarget>(
            stubClosure: { _ in .immediate },
            plugins: isReversed ? plugins.reversed() : plugins
        )
        let request = try await provider.request(PluginTarget()).request
        #expect(request?.value(forHTTPHeaderField: "Authorization") == "Bearer token")
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
