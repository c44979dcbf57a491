// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
@testable import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Decoders", .throttled, .timeLimit(.minutes(2)))
struct DecoderOptionTests {
    /// What the decoder that was used says of itself: `{}` has nothing, so all of it is the decoder's.
    struct Mark: Decodable, Sendable, Equatable {
        static let key = CodingUserInfoKey(rawValue: "mark")
        var name: String

        init(_ name: String) {
            self.name = name
        }

        init(from decoder: any Decoder) throws {
            name = Self.key.flatMap { decoder.userInfo[$0] as? String } ?? "plain"
        }
    }

    private static func decoder(_ name: String) -> JSONDecoder {
        let decoder = JSONDecoder()
        if let key = Mark.key { decoder.userInfo[key] = name }
        return decoder
    }

    enum Quiet: TargetType {
        case call

        var baseURL: URL { .example }
        var path: RequestPath { "/" }
        var sampleData: Data { Data(#"{"code":0,"data":{}}"#.utf8) }
    }

    enum Decoding: TargetType {
        case own
        case ofProvider

        var baseURL: URL { .example }
        var path: RequestPath { "/" }
        var sampleData: Data { Quiet.call.sampleData }
        var options: CallOptions {
            self == .own ? .setting(\.decoder, DecoderOptionTests.decoder("target")) : CallOptions()
        }
    }

    struct Typed: TypedTarget {
        typealias Output = Mark
        var baseURL: URL { .example }
        var path: RequestPath { "/" }
        var sampleData: Data { Quiet.call.sampleData }
    }

    struct TypedWithDecoder: TypedTarget {
        typealias Output = Mark
        var baseURL: URL { .example }
        var path: RequestPath { "/" }
        var keyPath: String? { "data" }
        var sampleData: Data { Quiet.call.sampleData }
        var options: CallOptions { .setting(\.decoder, DecoderOptionTests.decoder("target")) }
    }

    private func provider<Target: TargetType>(_ type: Target.Type, named: Bool = true) -> Provider<Target> {
        named
            ? Provider(stubClosure: { _ in .immediate }, options: .setting(\.decoder, Self.decoder("provider")))
            : Provider(stubClosure: { _ in .immediate })
    }

    /// All the ways to decode what a call brings, with that decoder for the call.
    private func marks<Target: TargetType>(
        of target: Target,
        by provider: Provider<Target>,
        options: CallOptions = CallOptions()
    ) async throws -> Set<String> {
        let inEnvelope = options.setting(\.envelope, CodeMessageData())
        var marks: [Mark] = []
        marks.append(try await provider.request(target, as: Mark.self, options: options))
        marks.append(try await provider.request(target, as: Mark.self, atKeyPath: "data", options: options))
        marks.append(try await provider.request(target, as: Mark.self, options: inEnvelope))
        let response = try await provider.request(target, options: options)
        marks.append(try response.decode(Mark.self))
        marks.append(try response.unwrap(from: CodeMessageData()))
        let stream = try await provider.stream(target, options: options)
        for try await mark in stream.jsonLines(of: Mark.self) { marks.append(mark) }
        #expect(marks.count == 6)
        return Set(marks.map(\.name))
    }

    @Test("Without a decoder in the options a plain one decodes")
    func plain() async throws {
        #expect(try await marks(of: .call, by: provider(Quiet.self, named: false)) == ["plain"])
        #expect(try await marks(of: .ofProvider, by: provider(Decoding.self, named: false)) == ["plain"])
        #expect(try Response(statusCode: 200, data: Data("{}".utf8)).decode(Mark.self) == Mark("plain"))
    }

    @Test("The provider's decodes for targets without one")
    func ofProvider() async throws {
        #expect(try await marks(of: .call, by: provider(Quiet.self)) == ["provider"])
        #expect(try await marks(of: .ofProvider, by: provider(Decoding.self)) == ["provider"])
        let quiet = MultiTarget(Quiet.call)
        #expect(try await marks(of: quiet, by: provider(MultiTarget.self)) == ["provider"])
    }

    @Test("The target's overrides the provider's, also inside a MultiTarget")
    func ofTarget() async throws {
        #expect(try await marks(of: .own, by: provider(Decoding.self)) == ["target"])
        #expect(try await marks(of: MultiTarget(Decoding.own), by: provider(MultiTarget.self)) == ["target"])
    }

    @Test("The call's overrides all others, and nil stands for a plain one")
    func ofCall() async throws {
        let own = CallOptions.setting(\.decoder, Self.decoder("call"))
        #expect(try await marks(of: .own, by: provider(Decoding.self), options: own) == ["call"])
        #expect(try await marks(of: .call, by: provider(Quiet.self), options: own) == ["call"])
        let plain = CallOptions.setting(\.decoder, nil)
        #expect(try await marks(of: .own, by: provider(Decoding.self), options: plain) == ["plain"])
        #expect(try await marks(of: .call, by: provider(Quiet.self), options: plain) == ["plain"])
    }

    @Test("A typed target's calls use its decoder, else the provider's, with and without an envelope")
    func typed() async throws {
        let typed = provider(Typed.self)
        let inEnvelope = CallOptions.setting(\.envelope, CodeMessageData())
        #expect(try await typed.request(Typed()) == Mark("provider"))
        #expect(try await typed.request(Typed(), options: inEnvelope) == Mark("provider"))
        let own = provider(TypedWithDecoder.self)
        #expect(try await own.request(TypedWithDecoder()) == Mark("target"))
        let any = provider(MultiTarget.self)
        #expect(try await any.request(Typed()) == Mark("provider"))
        #expect(try await any.request(TypedWithDecoder()) == Mark("target"))
        // The key path counts in the envelope's payload, which has no such key.
        await #expect(throws: TargetKitError.self) {
            let _: Mark = try await any.request(TypedWithDecoder(), options: inEnvelope)
        }
    }

    struct Service<Target: TargetType>: APIService {
        var provider: Provider<Target>
    }

    private func mark<Calls: APIService>(_ target: Calls.Target, by service: Calls) async -> String? {
        await withCheckedContinuation { done in
            service.request(target, as: Mark.self) {
                done.resume(returning: $0.name)
            } failure: { _ in
                done.resume(returning: nil)
            }
        }
    }

    @Test("A service's calls are decoded as its provider's")
    func service() async throws {
        #expect(await mark(.own, by: Service(provider: provider(Decoding.self))) == "target")
        #expect(await mark(.ofProvider, by: Service(provider: provider(Decoding.self))) == "provider")
        #expect(await mark(.call, by: Service(provider: provider(Quiet.self))) == "provider")
        #expect(await mark(.call, by: Service(provider: provider(Quiet.self, named: false))) == "plain")
    }

    struct Row: Decodable, Sendable, Equatable {
        var userName: String
        var since: Date
    }

    @Test("One decoder serves many calls at once")
    func concurrent() async throws {
        let sample = SampleResponse.response(status: 200, data: Data(#"{"user_name":"a","since":1714979289}"#.utf8))
        let provider = Provider<TestTarget>(
            transport: StubTransport(sample),
            options: .setting(\.decoder, .snakeCase())
        )
        let rows = try await withThrowingTaskGroup(of: Row.self) { group in
            for _ in 0..<500 { group.addTask { try await provider.request(TestTarget(.example), as: Row.self) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(
            rows == Array(repeating: Row(userName: "a", since: Date(timeIntervalSince1970: 1_714_979_289)), count: 500)
        )
    }
}
