// SPDX-License-Identifier: MIT
import Foundation
import OpenCombine
import TargetKit
import TargetKitJSON
import ProviderPublishers
import PublisherSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Publishers")
struct PublisherTests {
    struct Tea: Codable, Equatable {
        var name: String
    }

    struct GetTea: TypedTarget {
        typealias Output = Tea
        var baseURL: URL { .example }
        var path: RequestPath { "/tea" }
        var sampleData: Data { Data(#"{"name":"tea"}"#.utf8) }
    }

    private static let queueKey = DispatchSpecificKey<Int>()
    private let queue = DispatchQueue(label: "publishers")

    private func provider<Target: TargetType>(_ type: Target.Type = TestTarget.self) -> Provider<Target> {
        Provider(stubClosure: { _ in .immediate })
    }

    @Test("A value is decoded, of a typed target too, and out of an envelope")
    func values() async {
        let (plain, typed, wrapped) = (Probe<Tea>(demand: .unlimited), Probe<Tea>(demand: .unlimited), Probe<Tea>())
        provider().valuePublisher(for: TestTarget(.example), as: Tea.self, on: queue).subscribe(plain)
        provider(GetTea.self).valuePublisher(for: GetTea(), on: queue).subscribe(typed)
        let target = TestTarget(.example).with {
            $0.sampleResponse = .response(status: 200, data: Data(#"{"code":0,"data":{"name":"oolong"}}"#.utf8))
        }
        let options = CallOptions.setting(\.envelope, CodeMessageData())
        provider().valuePublisher(for: target, as: Tea.self, options: options, on: queue).subscribe(wrapped)
        wrapped.request(.max(1))
        for probe in [plain, typed, wrapped] { await probe.signals.waitForCount(2) }
        #expect([plain, typed, wrapped].flatMap(\.values) == ["tea", "tea", "oolong"].map(Tea.init))
    }

    @Test("A failure is the one completion: a TargetKitError, with its response when decoding failed")
    func failures() async throws {
        let offline = TestTarget(.example).with { $0.sampleResponse = .failure(URLError(.notConnectedToInternet)) }
        let (failed, undecodable) = (Probe<Response>(demand: .unlimited), Probe<[Int]>(demand: .unlimited))
        provider().responsePublisher(for: offline, on: queue).subscribe(failed)
        provider().valuePublisher(for: TestTarget(.example), as: [Int].self, on: queue).subscribe(undecodable)
        await failed.signals.waitForCount(1)
        await undecodable.signals.waitForCount(1)
        #expect(failed.ends.first??.kind == .offline)
        #expect(undecodable.ends.first??.stage == .decoding)
        #expect(undecodable.ends.first??.response?.statusCode == 200)
        #expect(failed.signals.count == 1 && undecodable.signals.count == 1)
    }

    @Test("Each subscription makes its own call")
    func cold() async {
        let transport = HeldTransport()
        let publisher = Provider<TestTarget>(transport: transport)
            .responsePublisher(for: TestTarget(.example), on: queue)
        let probes = [Probe<Response>(demand: .unlimited), Probe(demand: .unlimited)]
        for probe in probes { publisher.subscribe(probe) }
        await transport.release(0)
        await transport.release(1)
        for probe in probes { await probe.signals.waitForCount(2) }
        #expect(transport.sent.count == 2)
    }

    @Test("Values and completion come on the main queue, or on the one that is named")
    func queues() async {
        let other = DispatchQueue(label: "other")
        DispatchQueue.main.setSpecific(key: Self.queueKey, value: 1)
        other.setSpecific(key: Self.queueKey, value: 2)
        let seen = Recorder<Int?>()
        var stored = Set<AnyCancellable>()
        let (first, second) = (TestTarget(.example), provider())
        for publisher in [second.responsePublisher(for: first), second.responsePublisher(for: first, on: other)] {
            publisher.sink { _ in
                seen.append(DispatchQueue.getSpecific(key: Self.queueKey))
            } receiveValue: { _ in
                seen.append(DispatchQueue.getSpecific(key: Self.queueKey))
            }
            .store(in: &stored)
        }
        await seen.waitForCount(4)
        #expect(seen.elements.sorted { ($0 ?? 0) < ($1 ?? 0) } == [1, 1, 2, 2])
    }

    @Test("Combine's operators compose with them: the second try of a call that has failed brings the value")
    func operators() async {
        let sent = Recorder<Int>()
        let transport = StubTransport { _ in
            sent.append(1)
            if sent.count == 1 { throw URLError(.networkConnectionLost) }
            return .response(status: 200, data: Data(#"{"name":"tea"}"#.utf8))
        }
        let provider = Provider<TestTarget>(transport: transport)
        let names = Recorder<String>()
        let cancellable = provider.valuePublisher(for: TestTarget(.example), as: Tea.self, on: queue)
            .retry(1).map(\.name).replaceError(with: "none")
            .sink { names.append($0) }
        await names.waitForCount(1)
        #expect(names.elements == ["tea"])
        #expect(sent.count == 2)
        cancellable.cancel()
    }

    @Test("Many at once: each gets its value and its completion, once")
    func many() async {
        let (values, ends) = (Recorder<String>(), Recorder<Int>())
        var stored = Set<AnyCancellable>()
        let provider = provider()
        for _ in 0..<300 {
            provider.valuePublisher(for: TestTarget(.example), as: Tea.self, on: queue)
                .sink { _ in
                    ends.append(1)
                } receiveValue: {
                    values.append($0.name)
                }
                .store(in: &stored)
        }
        await ends.waitForCount(300)
        await withCheckedContinuation { done in queue.async { done.resume() } }
        #expect(values.count == 300)
        #expect(ends.count == 300)
    }
}
