// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTransfers
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(Observation)
import Observation
#endif

@Suite("A queue of transfers", .throttled, .timeLimit(.minutes(2)))
struct TransferQueueTests {
    private let transport = ControlledTransport()

    private func queue(
        _ transport: ControlledTransport? = nil,
        file: URL? = nil,
        maxConcurrent: Int = 1,
        options: CallOptions = CallOptions(),
        reachability: Reachability? = nil
    ) throws -> TransferQueue<Media> {
        try TransferQueue(
            Provider(transport: transport ?? self.transport),
            storedIn: file,
            maxConcurrent: maxConcurrent,
            options: options,
            reachability: reachability
        )
    }

    /// Waits until a transfer is in a state.
    private func wait(
        _ queue: TransferQueue<Media>,
        _ id: UUID,
        until isRight: (Transfer<Media>) -> Bool
    ) async throws {
        for await transfers in queue.updates {
            if let transfer = transfers.first(where: { $0.id == id }), isRight(transfer) { return }
        }
        throw CancellationError()
    }

    @Test("runs as many transfers as it is told, in the order in which they were added")
    func order() async throws {
        let queue = try queue(maxConcurrent: 2)
        for number in 1...4 { try await queue.add(.film(number)) }
        #expect(Set(await transport.begun.waitForCount(2)) == ["/film/1", "/film/2"])
        #expect(queue.transfers.map(\.state.name) == ["running", "running", "waiting", "waiting"])
        transport.finish(.film(2))
        #expect(await transport.begun.waitForCount(3).last == "/film/3")
        queue.maxConcurrent = 3
        #expect(await transport.begun.waitForCount(4).last == "/film/4")
    }

    @Test("starts transfers with a higher priority first")
    func priorities() async throws {
        let queue = try queue()
        try await queue.add(.film(0))
        try await queue.add(.film(1), priority: .low)
        let second = try await queue.add(.film(2))
        try await queue.add(.film(3), priority: .high)
        try await queue.add(.film(4), priority: .high)
        queue.setPriority(.low, of: second)
        for number in [0, 3, 4, 1, 2] {
            #expect(await transport.begun.waitForCount(1).contains("/film/0"))
            while transport.begun.elements.last != "/film/\(number)" {
                try Task.checkCancellation()
                await Task.yield()
            }
            transport.finish(.film(number))
        }
        while queue.transfers.contains(where: { !$0.state.hasEnded }) {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(queue.transfers.allSatisfy { $0.state.name == "finished" })
    }

    @Test(
        "No textual form of a transfer shows the values of its target",
        arguments: ["waiting", "running", "paused", "finished", "failed", "cancelled"]
    )
    func description(_ name: String) {
        let states: [String: Transfer<Upload>.State] = [
            "waiting": .waiting, "running": .running, "paused": .paused, "cancelled": .cancelled,
            "finished": .finished(Response(statusCode: 200, data: Data("s3cret".utf8))),
            "failed": .failed(TargetKitError(stage: .transport, target: Upload.signed("s3cret"))),
        ]
        let transfer = Transfer(target: Upload.signed("s3cret"), state: states[name] ?? .waiting)
        #expect(TextualForms(of: transfer).forms(holding: "s3cret") == [])
        #expect(TextualForms(of: [transfer.state]).forms(holding: "s3cret") == [])
        #expect("\(transfer)".hasPrefix("Upload.signed, " + name))
    }

    private enum Upload: TargetType {
        case signed(String)

        var baseURL: URL { .shop }
        var path: RequestPath { "/files" }
    }

    @Test("returns the response of a transfer, or throws its error")
    func responses() async throws {
        let queue = try queue(maxConcurrent: 3)
        let first = try await queue.add(.film(1))
        let second = try await queue.add(.film(2))
        let third = try await queue.add(.film(3))
        await transport.begun.waitForCount(3)
        transport.finish(.film(1))
        transport.finish(.film(2), with: .success(404))
        queue.cancel(third)
        #expect(try await queue.response(of: first).statusCode == 200)
        let error = await #expect(throws: TargetKitError.self) { try await queue.response(of: second) }
        #expect(error?.response?.statusCode == 404)
        await #expect(throws: CancellationError.self) { try await queue.response(of: third) }
        let unknown = UUID()
        await #expect(throws: TransferQueueError.unknownTransfer(unknown)) { try await queue.response(of: unknown) }
    }

    @Test("pauses and resumes a transfer, whose place another one takes")
    func pause() async throws {
        let queue = try queue()
        let first = try await queue.add(.film(1))
        try await queue.add(.film(2))
        await transport.begun.waitForCount(1)
        queue.pause(first)
        #expect(await transport.begun.waitForCount(2).last == "/film/2")
        #expect(queue.transfers.map(\.state.name) == ["paused", "running"])
        queue.resume(first)
        #expect(queue.transfers.map(\.state.name) == ["waiting", "running"])
        transport.finish(.film(2))
        #expect(await transport.begun.waitForCount(3).last == "/film/1")
        transport.finish(.film(1))
        #expect(try await queue.response(of: first).statusCode == 200)
    }

    @Test("starts a transfer again only when its former call has ended")
    func resumeBeforeEnd() async throws {
        let transport = ControlledTransport(ignoresCancellation: true)
        let queue = try queue(transport)
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        queue.pause(id)
        queue.resume(id)
        await transport.cancelled.waitForCount(1)
        #expect(queue[id]?.state.name == "waiting")
        #expect(transport.begun.count == 1)
        transport.finish(.film(1), with: .failure(URLError(.cancelled)))
        await transport.begun.waitForCount(2)
        #expect(queue[id]?.state.name == "running")
    }

    @Test("pauses, resumes and cancels all transfers")
    func all() async throws {
        let queue = try queue(maxConcurrent: 2)
        for number in 1...3 { try await queue.add(.film(number)) }
        await transport.begun.waitForCount(2)
        queue.pauseAll()
        #expect(queue.transfers.allSatisfy { $0.state.name == "paused" })
        await transport.cancelled.waitForCount(2)
        queue.resumeAll()
        await transport.begun.waitForCount(4)
        queue.cancelAll()
        #expect(queue.transfers.allSatisfy { $0.state.name == "cancelled" })
        queue.removeEnded()
        #expect(queue.transfers.isEmpty)
    }

    @Test("cancels a transfer that is removed")
    func remove() async throws {
        let queue = try queue()
        let id = try await queue.add(.film(1))
        await transport.begun.waitForCount(1)
        queue.remove(id)
        await transport.cancelled.waitForCount(1)
        #expect(queue.transfers.isEmpty)
        try await queue.add(.film(2))
        #expect(await transport.begun.waitForCount(2).last == "/film/2")
    }

    @Test("reports the progress of the file")
    func progress() async throws {
        let step = TransferProgress(completed: 5, total: 20, direction: .download)
        let transport = ControlledTransport(progress: step)
        let queue = try queue(transport)
        let id = try await queue.add(.film(1))
        try await wait(queue, id) { $0.progress?.fraction == 0.25 }
    }

    @Test("waits while there is no network that its transfers may use")
    func connectivity() async throws {
        let network = ManualConnectivity(.offline)
        let queue = try queue(
            options: .setting(\.allowsExpensive, false),
            reachability: Reachability(network)
        )
        let id = try await queue.add(.film(1))
        #expect(queue[id]?.state.name == "waiting")
        network.set(.online(.cellular, isExpensive: true, isConstrained: false))
        #expect(queue[id]?.state.name == "waiting")
        network.set(.online(.wifi, isExpensive: false, isConstrained: false))
        await transport.begun.waitForCount(1)
        network.set(.offline)
        transport.finish(.film(1), with: .failure(URLError(.networkConnectionLost)))
        try await wait(queue, id) { $0.state.name == "waiting" }
        network.set(.online(.wifi, isExpensive: false, isConstrained: false))
        await transport.begun.waitForCount(2)
        transport.finish(.film(1), with: .failure(URLError(.serverCertificateUntrusted)))
        try await wait(queue, id) { $0.state.name == "failed" }
        queue.resume(id)
        await transport.begun.waitForCount(3)
    }

    #if canImport(Observation)
    @Test("tells observers of changes")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func observation() async throws {
        let queue = try queue()
        let changed = Expectation()
        let count = withObservationTracking {
            queue.transfers.count
        } onChange: {
            changed.fulfill()
        }
        #expect(count == 0)
        try await queue.add(.film(1))
        await changed.wait()
        #expect(queue.transfers.count == 1)
    }
    #endif

    @Test("runs 2,000 transfers, and leaves nothing behind")
    func many() async throws {
        let queue = try TransferQueue(Provider<Media>(stubClosure: { _ in .immediate }), maxConcurrent: 8)
        for number in 1...2_000 { try await queue.add(.film(number)) }
        for id in queue.transfers.map(\.id) { _ = try await queue.response(of: id) }
        queue.removeEnded()
        #expect(queue.transfers.isEmpty)
    }
}

extension Transfer.State {
    /// The name of the case.
    var name: String {
        switch self {
        case .waiting: "waiting"
        case .running: "running"
        case .paused: "paused"
        case .finished: "finished"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }
}
