// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("APIService")
struct APIServiceTests {
    struct Tea: Codable, Equatable {
        var name: String
    }

    struct Service: APIService {
        var provider: Provider<TestTarget>
        var envelope: (any ResponseEnvelope)?
    }

    private static let queue = DispatchQueue(label: "service")

    private func service(_ envelope: (any ResponseEnvelope)? = nil) -> Service {
        Service(
            provider: Provider(stubClosure: { _ in .immediate }, callbackQueue: Self.queue),
            envelope: envelope
        )
    }

    private func target(_ body: String, status: Int = 200) -> TestTarget {
        TestTarget(.example).with { $0.sampleResponse = .response(status: status, data: Data(body.utf8)) }
    }

    /// What one of the two closures got.
    enum Outcome<Value: Sendable>: Sendable {
        case success(Value)
        case failure(TargetKitError)

        func get() throws -> Value {
            switch self {
            case .success(let value): value
            case .failure(let error): throw error
            }
        }
    }

    /// The outcome of a call that `start` makes; a second closure that is called is seen in the count.
    private func outcome<Value: Sendable>(
        _ start: (@escaping @Sendable (Value) -> Void, @escaping @Sendable (TargetKitError) -> Void) -> RequestHandle
    ) async throws -> Value {
        let outcomes = Recorder<Outcome<Value>>()
        let handle = start({ outcomes.append(.success($0)) }, { outcomes.append(.failure($0)) })
        await outcomes.waitForCount(1)
        _ = try? await handle.response()
        await withCheckedContinuation { done in Self.queue.async { done.resume() } }
        #expect(outcomes.count == 1)
        return try #require(outcomes.elements.first).get()
    }

    @Test("Each kind of value arrives at the success closure, on the provider's queue, once")
    func values() async throws {
        let service = service()
        let target = target(#"{"name":"tea"}"#)
        let tea: Tea = try await outcome { success, failure in
            service.request(
                target,
                as: Tea.self,
                success: { tea in
                    dispatchPrecondition(condition: .onQueue(Self.queue))
                    success(tea)
                },
                failure: failure
            )
        }
        #expect(tea == Tea(name: "tea"))
        let data: Data = try await outcome { service.data(target, success: $0, failure: $1) }
        #expect(data == Data(#"{"name":"tea"}"#.utf8))
        let text: String = try await outcome { service.string(target, success: $0, failure: $1) }
        #expect(text == #"{"name":"tea"}"#)
        let json: [String: JSONValue] = try await outcome { service.json(target, success: $0, failure: $1) }
        #expect(json == ["name": "tea"])
        let done: Bool = try await outcome { success, failure in
            service.send(target, success: { success(true) }, failure: failure)
        }
        #expect(done)
    }

    @Test("A failure arrives at the failure closure, with its stage")
    func failures() async throws {
        let service = service()
        let undecodable = try await #require(throws: TargetKitError.self) {
            let _: Tea = try await outcome { service.request(target("[]"), as: Tea.self, success: $0, failure: $1) }
        }
        #expect(undecodable.stage == .decoding)
        let refused = try await #require(throws: TargetKitError.self) {
            let target = target("", status: 500).with { $0.validation = .successCodes }
            let _: Data = try await outcome { service.data(target, success: $0, failure: $1) }
        }
        #expect(refused.stage == .status)
    }

    @Test("The service's envelope is taken off, and its failures are failures")
    func envelope() async throws {
        let service = service(CodeMessageData())
        let good = target(#"{"code":0,"data":{"name":"tea"}}"#)
        let tea: Tea = try await outcome { service.request(good, success: $0, failure: $1) }
        #expect(tea.name == "tea")
        let json: [String: JSONValue] = try await outcome { service.json(good, success: $0, failure: $1) }
        #expect(json == ["name": "tea"])
        let bad = target(#"{"code":9,"message":"no"}"#, status: 400).with { $0.validation = .successCodes }
        let error = try await #require(throws: TargetKitError.self) {
            let _: Bool = try await outcome { success, failure in
                service.send(bad, success: { success(true) }, failure: failure)
            }
        }
        #expect(error.underlying as? ServerDefinedError == ServerDefinedError(code: 9, message: "no", httpStatus: 400))
    }

    @Test("The handle cancels the call, and brings its response")
    func handle() async throws {
        let gate = Gate()
        let transport = StubTransport { _ in
            try await gate.waitUnlessCancelled()
            return .response(status: 200, data: Data("1".utf8))
        }
        let service = Service(provider: Provider(transport: transport, callbackQueue: Self.queue))
        let error = try await #require(throws: TargetKitError.self) {
            let _: Int = try await outcome { success, failure in
                let handle = service.request(TestTarget(.example), success: success, failure: failure)
                handle.cancel()
                return handle
            }
        }
        #expect(error.stage == .cancelled)
        gate.open()
        let handle = service.request(TestTarget(.example), as: Int.self, success: { _ in }, failure: { _ in })
        #expect(try await handle.response().statusCode == 200)
    }
}
