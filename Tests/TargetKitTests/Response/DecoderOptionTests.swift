// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Decoders")
struct DecodingTargetTests {
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

    enum Decoding: DecodingTarget {
        case own
        case ofProvider

        var baseURL: URL { .example }
        var path: RequestPath { "/" }
        var sampleData: Data { Quiet.call.sampleData }
        var decoder: JSONDecoder { self == .own ? DecodingTargetTests.decoder("target") : .ofProvider }
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
        var decoder: JSONDecoder { DecodingTargetTests.decoder("target") }
    }

    private func provider<Target: TargetType>(_ type: Target.Type, named: Bool = true) -> Provider<Target> {
        named
            ? Provider(stubClosure: { _ in .immediate }, decoder: Self.decoder("provider"))
            : Provider(stubClosure: { _ in .immediate })
    }

    /// All the ways to decode what a call brings, with that decoder for the call.
    private func marks<Target: TargetType>(
        of target: Target,
        by provider: Provider<Target>,
        using decoder: JSONDecoder? = nil
    ) async throws -> Set<String> {
        var marks: [Mark] = []
        marks.append(try await provider.request(target, as: Mark.self, using: decoder))
        marks.append(try await provider.request(target, as: Mark.self, atKeyPath: "data", using: decoder))
        marks.append(try await provider.request(target, unwrapping: CodeMessageData(), using: decoder))
        let response = try await provider.request(target)
        marks.append(try response.decode(Mark.self, using: decoder))
        marks.append(try response.unwrap(from: CodeMessageData(), using: decoder))
        let stream = try await provider.stream(target)
        for try await mark in stream.jsonLines(of: Mark.self, using: decoder) { marks.append(mark) }
        #expect(marks.count == 6)
        return Set(marks.map(\.name))
    }

    @Test("Without a word of anybody it is a plain one")
    func plain() async throws {
        #expect(try await marks(of: .call, by: provider(Quiet.self, named: false)) == ["plain"])
        #expect(try await marks(of: .ofProvider, by: provider(Decoding.self, named: false)) == ["plain"])
        #expect(try Response(statusCode: 200, data: Data("{}".utf8)).decode(Mark.self) == Mark("plain"))
    }

    @Test("The provider's is for targets that say none, and for those that leave it to the provider")
    func ofProvider() async throws {
        #expect(try await marks(of: .call, by: provider(Quiet.self)) == ["provider"])
        #expect(try await marks(of: .ofProvider, by: provider(Decoding.self)) == ["provider"])
        let quiet = MultiTarget(Quiet.call)
        #expect(try await marks(of: quiet, by: provider(MultiTarget.self)) == ["provider"])
    }

    @Test("The target's goes before the provider's, also inside a MultiTarget")
    func ofTarget() async throws {
        #expect(try await marks(of: .own, by: provider(Decoding.self)) == ["target"])
        #expect(try await marks(of: MultiTarget(Decoding.own), by: provider(MultiTarget.self)) == ["target"])
    }

    @Test("The call's goes before all others, unless it stands for the provider's")
    func ofCall() async throws {
        let own = Self.decoder("call")
        #expect(try await marks(of: .own, by: provider(Decoding.self), using: own) == ["call"])
        #expect(try await marks(of: .call, by: provider(Quiet.self), using: own) == ["call"])
        #expect(try await marks(of: .call, by: provider(Quiet.self), using: .ofProvider) == ["provider"])
    }

    @Test("A typed target's calls use its decoder, else the provider's, with and without an envelope")
    func typed() async throws {
        let typed = provider(Typed.self)
        #expect(try await typed.request(Typed()) == Mark("provider"))
        #expect(try await typed.request(Typed(), unwrapping: CodeMessageData()) == Mark("provider"))
        let own = provider(TypedWithDecoder.self)
        #expect(try await own.request(TypedWithDecoder()) == Mark("target"))
        #expect(try await own.request(TypedWithDecoder(), unwrapping: CodeMessageData()) == Mark("target"))
        let any = provider(MultiTarget.self)
        #expect(try await any.request(Typed()) == Mark("provider"))
        #expect(try await any.request(TypedWithDecoder()) == Mark("target"))
        #expect(try await any.request(TypedWithDecoder(), unwrapping: CodeMessageData()) == Mark("target"))
    }

    struct Service<Target: TargetType>: APIService {
        var provider: Provider<Target>
        var decoder: JSONDecoder
        var envelope: (any ResponseEnvelope)?
    }

    struct PlainService<Target: TargetType>: APIService {
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

    @Test("A service's decoder stands between the target's and the provider's")
    func service() async throws {
        for envelope in [nil, CodeMessageData()] as [CodeMessageData?] {
            let own = Service(provider: provider(Decoding.self), decoder: Self.decoder("service"), envelope: envelope)
            #expect(await mark(.own, by: own) == "target")
            #expect(await mark(.ofProvider, by: own) == "service")
        }
        #expect(await mark(.ofProvider, by: PlainService(provider: provider(Decoding.self))) == "provider")
        #expect(await mark(.call, by: PlainService(provider: provider(Quiet.self))) == "provider")
        #expect(await mark(.call, by: PlainService(provider: provider(Quiet.self, named: false))) == "plain")
    }

    struct Row: Decodable, Sendable, Equatable {
        var userName: String
        var since: Date
    }

    @Test("One decoder serves many calls at once")
    func concurrent() async throws {
        let sample = SampleResponse.response(status: 200, data: Data(#"{"user_name":"a","since":1714979289}"#.utf8))
        let provider = Provider<TestTarget>(transport: StubTransport(sample), decoder: .snakeCase())
        let rows = try await withThrowingTaskGroup(of: Row.self) { group in
            for _ in 0..<500 { group.addTask { try await provider.request(TestTarget(.example), as: Row.self) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(
            rows == Array(repeating: Row(userName: "a", since: Date(timeIntervalSince1970: 1_714_979_289)), count: 500)
        )
    }
}
