// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("ErrorMappingTarget", .throttled, .timeLimit(.minutes(2)))
struct ErrorMappingTargetTests {
    enum ShopError: Error, Equatable, LocalizedError {
        case paymentNeeded
        case soldOut
        case noNet

        var errorDescription: String? { "shop: \(self)" }
    }

    struct Shop: ErrorMappingTarget {
        var baseURL: URL { .example }
        var path: RequestPath { "/shop" }
        var validation = StatusValidation.none
        var sampleResponse: SampleResponse
        let asked = Tally()

        func appError(for response: Response) -> (any Error)? {
            asked.add()
            switch response.statusCode {
            case 402: return ShopError.paymentNeeded
            case 200: return (try? response.json())?["soldOut"] == true ? ShopError.soldOut : nil
            default: return nil
            }
        }

        func appError(for code: URLError.Code) -> (any Error)? {
            asked.add()
            return code == .notConnectedToInternet ? ShopError.noNet : nil
        }
    }

    private func result(_ target: Shop, plugins: [any Plugin] = []) async -> Result<Response, TargetKitError> {
        let provider = Provider<Shop>(stubClosure: { _ in .immediate }, plugins: plugins)
        do throws(TargetKitError) {
            return .success(try await provider.request(target))
        } catch {
            return .failure(error)
        }
    }

    private static func sample(_ status: Int, _ body: String = "{}") -> SampleResponse {
        .response(status: status, data: Data(body.utf8))
    }

    @Test(
        "A status, a body and a URLError code become the app's error, and stage and kind stay",
        arguments: [
            (
                sample(402), StatusValidation.none, ShopError.paymentNeeded, TargetKitError.Stage.status,
                TargetKitError.Kind.client
            ),
            (sample(402), .successCodes, .paymentNeeded, .status, .client),
            (sample(200, #"{"soldOut":true}"#), .none, .soldOut, .envelope, .rejected),
            (.failure(URLError(.notConnectedToInternet)), .none, .noNet, .transport, .offline),
        ] as [(SampleResponse, StatusValidation, ShopError, TargetKitError.Stage, TargetKitError.Kind)]
    )
    func mapped(
        sample: SampleResponse,
        validation: StatusValidation,
        appError: ShopError,
        stage: TargetKitError.Stage,
        kind: TargetKitError.Kind
    ) async throws {
        let target = Shop(validation: validation, sampleResponse: sample)
        let error = try await #require(throws: TargetKitError.self) { try await result(target).get() }
        #expect(error.appError as? ShopError == appError)
        #expect(error.stage == stage)
        #expect(error.kind == kind)
        #expect(error.target is Shop)
        #expect(error.errorDescription == "shop: \(appError)")
        #expect(target.asked.value == 1)
    }

    @Test("Where the target has no error of its own, everything is as without it")
    func fallback() async throws {
        #expect(try await result(Shop(sampleResponse: Self.sample(404))).get().statusCode == 404)
        for (sample, stage) in [
            (Self.sample(404), TargetKitError.Stage.status), (.failure(URLError(.timedOut)), .transport),
        ] {
            let target = Shop(validation: .successCodes, sampleResponse: sample)
            let error = try await #require(throws: TargetKitError.self) { try await result(target).get() }
            #expect(error.appError == nil)
            #expect(error.stage == stage)
        }
    }

    @Test("Plugins see the app's error in process, and the inner target of a MultiTarget is asked")
    func plugins() async throws {
        let seen = Recorder<ShopError?>()
        let provider = Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: [Spy(seen: seen)])
        let error = try await #require(throws: TargetKitError.self) {
            try await provider.request(Shop(sampleResponse: Self.sample(402))) as Response
        }
        #expect(error.appError as? ShopError == .paymentNeeded)
        #expect(seen.elements == [.paymentNeeded])
    }

    struct Spy: Plugin {
        let seen: Recorder<ShopError?>

        func process(
            _ result: Result<Response, TargetKitError>,
            context: RequestContext
        ) async -> Result<Response, TargetKitError> {
            if case .failure(let error) = result { seen.append(error.appError as? ShopError) }
            return result
        }
    }

    @Test("A call that ran out of its own time is asked about as one that timed out")
    func timedOut() async throws {
        let clock = ManualClock()
        let provider = Provider<Slow>(
            transport: StubTransport { _ in
                try await Gate().waitUnlessCancelled()
                return Self.sample(200)
            },
            clock: clock
        )
        let call = Task { try await provider.request(Slow(), options: .setting(\.timeout, .wholeCall(.seconds(5)))) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = try await #require(throws: TargetKitError.self) { try await call.value }
        #expect(error.kind == .timedOut)
        #expect(error.appError as? ShopError == .noNet)
    }

    struct Slow: ErrorMappingTarget {
        var baseURL: URL { .example }
        var path: RequestPath { "/slow" }

        func appError(for code: URLError.Code) -> (any Error)? { code == .timedOut ? ShopError.noNet : nil }
    }

    @Test("A cancelled call reads cancelled, and is not asked about")
    func cancelled() async throws {
        let target = Shop(sampleResponse: Self.sample(402))
        let error = try await #require(throws: TargetKitError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await result(target).get()
            }
            .value
        }
        #expect(error.stage == .cancelled)
        #expect(error.appError == nil)
        #expect(target.asked.value == 0)
    }

    @Test("A call that is cancelled while it is asked about reads cancelled")
    func cancelledMeanwhile() async throws {
        let scope = RequestScope()
        let provider = Provider<Cancelling>(stubClosure: { _ in .immediate }, scope: scope)
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(Cancelling(scope: scope)) }
        #expect(error?.stage == .cancelled)
        #expect(error?.appError == nil)
    }

    struct Cancelling: ErrorMappingTarget {
        let scope: RequestScope
        var baseURL: URL { .example }
        var path: RequestPath { "/cancelling" }
        var validation: StatusValidation { .none }

        func appError(for response: Response) -> (any Error)? {
            scope.cancelAll()
            return ShopError.soldOut
        }
    }
}
