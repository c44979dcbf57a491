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

@Suite("Call options", .throttled, .timeLimit(.minutes(2)))
struct CallOptionsTests {
    /// The options that plugins see of a call with options at all three places.
    private func resolved(
        provider: CallOptions = CallOptions(),
        target: CallOptions = CallOptions(),
        call: CallOptions = CallOptions()
    ) async throws -> CallOptions {
        let seen = Recorder<CallOptions>()
        let plugin = RecordingPlugin(prepare: { request, context in
            seen.append(context.options)
            return request
        })
        let target = TestTarget(.example).with { $0.options = target }
        let one = Provider<TestTarget>(stubClosure: { _ in .immediate }, plugins: [plugin], options: provider)
        _ = try await one.request(target, options: call)
        let any = Provider<MultiTarget>(stubClosure: { _ in .immediate }, plugins: [plugin], options: provider)
        _ = try await any.request(target, options: call)
        #expect(seen.count == 2)
        #expect(seen.elements.map(\.strength).first == seen.elements.map(\.strength).last)
        return try #require(seen.elements.last)
    }

    @Test("A call without options has the defaults")
    func defaults() async throws {
        let options = try await resolved()
        #expect(options.timeout == .none)
        #expect(!options.sharesInFlight)
        #expect(options.decoder == nil)
        #expect(options.envelope == nil)
        #expect(options.headers == [:])
        #expect(options.strength == 1)
        #expect(options.flavour == "plain")
    }

    @Test(
        "The call overrides the target, and that the provider, option by option",
        arguments: [
            (nil, nil, nil, 1), (2, nil, nil, 2), (2, 3, nil, 3), (2, 3, 4, 4), (nil, 3, nil, 3), (2, nil, 4, 4),
            (nil, nil, 4, 4),
        ] as [(Int?, Int?, Int?, Int)]
    )
    func cascade(provider: Int?, target: Int?, call: Int?, result: Int) async throws {
        // Each place sets an option of its own as well, which stays.
        func options(_ strength: Int?, _ other: CallOptions) -> CallOptions {
            strength.map { other.setting(\.strength, $0) } ?? other
        }
        let options = try await resolved(
            provider: options(provider, .setting(\.flavour, "mint")),
            target: options(target, .setting(\.sharesInFlight, true)),
            call: options(call, .setting(\.headers, ["X-Call": "1"]))
        )
        #expect(options.strength == result)
        #expect(options.flavour == "mint")
        #expect(options.sharesInFlight)
        #expect(options.headers == ["X-Call": "1"])
    }

    @Test("nil and false override what a place before has set")
    func overridingWithNothing() async throws {
        let provider = CallOptions.setting(\.decoder, JSONDecoder()).setting(\.envelope, CodeMessageData())
            .setting(\.sharesInFlight, true).setting(\.flavour, "mint")
        #expect(try await resolved(provider: .setting(\.decoder, JSONDecoder())).decoder != nil)
        let call = CallOptions.setting(\.decoder, nil).setting(\.envelope, nil).setting(\.sharesInFlight, false)
            .setting(\.flavour, nil)
        for options in [
            try await resolved(provider: provider, call: call), try await resolved(provider: provider, target: call),
        ] {
            #expect(options.decoder == nil)
            #expect(options.envelope == nil)
            #expect(!options.sharesInFlight)
            #expect(options.flavour == nil)
        }
    }

    @Test("The limits of the exchange and of the whole call are overridden separately")
    func timeouts() async throws {
        let both = CallTimeout(exchange: .seconds(9), wholeCall: .seconds(90))
        let provider = CallOptions.setting(\.timeout, both)
        #expect(try await resolved(provider: provider).timeout == both)
        let target = CallOptions.setting(\.timeout, .exchange(.seconds(5)))
        #expect(
            try await resolved(provider: provider, target: target).timeout
                == CallTimeout(exchange: .seconds(5), wholeCall: .seconds(90))
        )
        let call = CallOptions.setting(\.timeout, .wholeCall(.seconds(50)))
        #expect(
            try await resolved(provider: provider, target: target, call: call).timeout
                == CallTimeout(exchange: .seconds(5), wholeCall: .seconds(50))
        )
    }

    @Test("Header fields of all places are merged, replace the target's own, and are checked")
    func headers() async throws {
        let running = try RunningBackend(.stub)
        let provider = Provider<TestTarget>(
            transport: running.transport,
            options: .setting(
                \.headers,
                ["X-A": "provider", "X-B": "provider", "X-C": "provider", "X-Own": "provider"]
            )
        )
        let target = TestTarget(running.baseURL).with {
            $0.headers = ["X-Own": "own", "X-Target": "own"]
            $0.options.headers = ["x-b": "target", "X-C": "target"]
        }
        _ = try await provider.request(target, options: .setting(\.headers, ["X-c": "call"]))
        let headers = try #require(running.requests.first?.headers)
        #expect(headers["X-A"] == "provider")
        #expect(headers["X-B"] == "target")
        #expect(headers["X-C"] == "call")
        #expect(headers["X-Own"] == "provider")
        #expect(headers["X-Target"] == "own")
        #expect(headers.filter { $0.name == "X-C" }.count == 1)
        let error = await #expect(throws: TargetKitError.self) {
            try await provider.request(target, options: .setting(\.headers, ["X-C": "a\r\nInjected: 1"]))
        }
        #expect(error?.kind == .invalidRequest)
        #expect(running.requests.count == 1)
    }

    @Test("A MultiTarget has every property of the target inside")
    func multiTarget() {
        let target = TestTarget(.example).with {
            $0.path = "/a"
            $0.method = .put
            $0.task = .data(Data("b".utf8))
            $0.headers = ["X": "1"]
            $0.validation = .codes([201])
            $0.options = .setting(\.strength, 7)
            $0.sampleResponse = .response(status: 201, data: Data("c".utf8))
        }
        let any = MultiTarget(MultiTarget(target))
        #expect(any.baseURL == target.baseURL)
        #expect(any.path == target.path)
        #expect(any.method == target.method)
        #expect(any.task.description == target.task.description)
        #expect(any.headers == target.headers)
        #expect(any.validation == target.validation)
        #expect(any.options.strength == 7)
        #expect(any.sampleData == target.sampleData)
        guard case .response(201, _, let data) = any.sampleResponse else {
            Issue.record("the sample of the target inside is lost")
            return
        }
        #expect(data == Data("c".utf8))
    }

    @Test("A context made by hand has the options of its target and those that it is given")
    func contextByHand() {
        let target = TestTarget(.example).with { $0.options = .setting(\.strength, 7).setting(\.flavour, "mint") }
        let context = RequestContext(target: MultiTarget(target), options: .setting(\.strength, 8))
        #expect(context.options.strength == 8)
        #expect(context.options.flavour == "mint")
    }

    @Test("No timeout at the call lifts the provider's limits; one of the limits leaves the other")
    func noTimeout() async throws {
        let limits = CallTimeout(exchange: .seconds(1), wholeCall: .seconds(2))
        let lifted = try await resolved(provider: .setting(\.timeout, limits), call: .setting(\.timeout, .none))
        #expect(lifted.timeout == .none)
        let mixed = try await resolved(
            provider: .setting(\.timeout, limits),
            call: .setting(\.timeout, .exchange(.seconds(9)))
        )
        #expect(mixed.timeout == CallTimeout(exchange: .seconds(9), wholeCall: .seconds(2)))
    }

    @Test("A textual form shows how many options are set, and no values")
    func textualForms() {
        let options = CallOptions.setting(\.headers, ["Authorization": "s3cret"]).setting(\.flavour, "s3cret")
        #expect("\(options)" == "2 options")
        var text = ""
        dump(options, to: &text)
        #expect(!"\(text)\(String(reflecting: options))".contains("s3cret"))
    }
}

private enum StrengthKey: CallOptionKey { static let defaultValue = 1 }
private enum FlavourKey: CallOptionKey { static let defaultValue: String? = "plain" }

extension CallOptions {
    fileprivate var strength: Int {
        get { self[StrengthKey.self] }
        set { self[StrengthKey.self] = newValue }
    }

    /// An option whose value is optional, and whose default is not `nil`.
    fileprivate var flavour: String? {
        get { self[FlavourKey.self] }
        set { self[FlavourKey.self] = newValue }
    }
}
