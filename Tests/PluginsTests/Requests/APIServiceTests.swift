// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("APIService", .throttled, .timeLimit(.minutes(2)))
struct APIServiceTests {
    struct Tea: Codable, Equatable {
        var name: String
    }

    struct Service: APIService {
        var provider: Provider<TestTarget>
    }

    private func service(_ options: CallOptions = CallOptions()) -> Service {
        Service(provider: Provider(stubClosure: { _ in .immediate }, options: options))
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
        _ start: (
            @escaping @MainActor @Sendable (Value) -> Void, @escaping @MainActor @Sendable (TargetKitError) -> Void
        )
            -> RequestHandle
    ) async throws -> Value {
        let outcomes = Recorder<Outcome<Value>>()
        let handle = start({ outcomes.append(.success($0)) }, { outcomes.append(.failure($0)) })
        await outcomes.waitForCount(1)
        _ = try? await handle.response()
        // A second completion would be in the main queue now.
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(outcomes.count == 1)
        return try #require(outcomes.elements.first).get()
    }

    @Test("Progress arrives on the main actor before the result")
    func progress() async throws {
        let service = service()
        let steps = Recorder<String>()
        let target = target(#"{"name":"tea"}"#)
        let record: @MainActor @Sendable (TransferProgress) -> Void = { steps.append("\($0.direction)") }
        let _: Tea = try await outcome { success, failure in
            service.request(
                target,
                progress: record,
                success: { (tea: Tea) in
                    steps.append("value")
                    success(tea)
                },
                failure: failure
            )
        }
        let _: Response = try await outcome { success, failure in
            service.send(
                target,
                progress: record,
                success: { response in
                    steps.append("response")
                    success(response)
                },
                failure: failure
            )
        }
        #expect(steps.elements == ["download", "value", "download", "response"])
    }

    @Test("A value and a response arrive at the success closure, on the main actor, once")
    func values() async throws {
        let service = service()
        let target = target(#"{"name":"tea"}"#)
        let tea: Tea = try await outcome { success, failure in
            service.request(
                target,
                as: Tea.self,
                success: { tea in
                    dispatchPrecondition(condition: .onQueue(.main))
                    success(tea)
                },
                failure: failure
            )
        }
        #expect(tea == Tea(name: "tea"))
        let json: [String: JSONValue] = try await outcome { service.request(target, success: $0, failure: $1) }
        #expect(json == ["name": "tea"])
        let response: Response = try await outcome { service.send(target, success: $0, failure: $1) }
        #expect(response.data == Data(#"{"name":"tea"}"#.utf8))
        #expect(try response.string() == #"{"name":"tea"}"#)
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
            let _: Response = try await outcome { service.send(target, success: $0, failure: $1) }
        }
        #expect(refused.stage == .status)
    }

    @Test("Values come out of the provider's envelope, its failures are failures, and a call can do without it")
    func envelope() async throws {
        let service = service(.setting(\.envelope, CodeMessageData()))
        let good = target(#"{"code":0,"data":{"name":"tea"}}"#)
        let tea: Tea = try await outcome { service.request(good, success: $0, failure: $1) }
        #expect(tea.name == "tea")
        let json: [String: JSONValue] = try await outcome { service.request(good, success: $0, failure: $1) }
        #expect(json == ["name": "tea"])
        let bad = target(#"{"code":9,"message":"no"}"#, status: 400).with { $0.validation = .successCodes }
        let error = try await #require(throws: TargetKitError.self) {
            let _: Response = try await outcome { service.send(bad, success: $0, failure: $1) }
        }
        #expect(error.underlying as? ServerDefinedError == ServerDefinedError(code: "9", message: "no"))
        let plain: JSONValue = try await outcome { success, failure in
            service.request(good, options: .setting(\.envelope, nil), success: success, failure: failure)
        }
        #expect(plain.code == 0)
    }

    @Test("The handle cancels the call, and brings its response")
    func handle() async throws {
        let gate = Gate()
        let transport = StubTransport { _ in
            try await gate.waitUnlessCancelled()
            return .response(status: 200, data: Data("1".utf8))
        }
        let service = Service(provider: Provider(transport: transport))
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
