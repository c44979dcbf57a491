// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport
import Testing

import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Background transfers", .throttled, .timeLimit(.minutes(2)))
struct BackgroundTransfersTests {
    private let folder: TemporaryFolder
    private let session = SystemSession()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The transfers of one launch.
    private func launch() -> BackgroundTransfers {
        BackgroundTransfers(BackgroundFiles(in: folder.url.appendingPathComponent("background")))
    }

    private func request(_ body: TransportRequest.Body = .none, id: String? = nil) -> TransportRequest {
        var request = TransportRequest(urlRequest: URLRequest(url: .example), body: body)
        request.transferID = id
        return request
    }

    /// Sends a request, and returns the text of the response.
    private func send(
        _ request: TransportRequest,
        in transfers: BackgroundTransfers,
        _ session: SystemSession? = nil
    ) -> Task<String, any Error> {
        Task { [session = session ?? self.session] in
            let response = try await transfers.send(request, as: request.urlRequest, to: .example, over: session)
            guard case .data(let data) = response.body else { throw URLError(.badServerResponse) }
            return String(decoding: data, as: UTF8.self)
        }
    }

    /// The code of the error with which a call ends.
    private func code(of call: Task<String, any Error>) async -> URLError.Code? {
        guard case .failure(let error) = await call.result else { return nil }
        return (error as? URLError)?.code
    }

    private var storedFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(
                atPath: folder.url.appendingPathComponent("background").path
            ).sorted()
        }
    }

    @Test("A response is returned, and nothing remains on the disk", arguments: [true, false])
    func returned(isUpload: Bool) async throws {
        let transfers = launch()
        let call = send(request(isUpload ? .data(Data("order".utf8)) : .none), in: transfers)
        await session.started.waitForCount(1)
        switch session.work(0) {
        case .upload(_, let file): #expect(try isUpload && Data(contentsOf: file) == Data("order".utf8))
        case .download, .continuation: #expect(!isUpload)
        }
        session.finish(0, "film", in: transfers)
        #expect(try await call.value == "film")
        #expect(try storedFiles.isEmpty)
    }

    @Test("After a launch, a running transfer is joined, and nothing is sent again", arguments: [true, false])
    func joined(isSuspended: Bool) async throws {
        // A boundary differs at each launch.
        _ = send(request(.data(Data("boundary 1".utf8)), id: "1"), in: launch())
        await session.started.waitForCount(1)
        if isSuspended { session.set(.suspended, of: 0) }
        let transfers = launch()
        let call = send(request(.data(Data("boundary 2".utf8)), id: "1"), in: transfers)
        if isSuspended { await session.started.waitForCount(2) }
        // Ended only after the exchange has joined, or before: both deliver the response.
        session.finish(0, "done", in: transfers)
        #expect(try await call.value == "done")
        #expect(session.count == 1)
    }

    @Test("A task whose events come while the next call begins is joined, or its response is returned")
    func completed() async throws {
        for round in 0..<50 {
            _ = send(request(.data(Data("order".utf8)), id: "\(round)"), in: launch())
            await session.started.waitForCount(round + 1)
            session.set(.completed, of: round)
            let transfers = launch()
            let call = send(request(.data(Data("order".utf8)), id: "\(round)"), in: transfers)
            session.finish(round, "done", in: transfers)
            #expect(try await call.value == "done")
            #expect(session.count == round + 1)
        }
    }

    @Test("A response that arrived before the call is returned without a task")
    func arrived() async throws {
        _ = send(request(id: "1"), in: launch())
        await session.started.waitForCount(1)
        let transfers = launch()
        session.finish(0, "film", in: transfers)
        #expect(try await send(request(id: "1"), in: transfers).value == "film")
        #expect(session.count == 1)
        #expect(try storedFiles.isEmpty)
    }

    @Test(
        "Another user's request neither gets a response that arrived before, nor joins",
        arguments: [nil, "1"],
        [true, false]
    )
    func otherUser(id: String?, hasArrived: Bool) async throws {
        let users = ["anna", "bob"].map { user in
            var request = request(id: id)
            request.ownerID = user
            return request
        }
        _ = send(users[0], in: launch())
        await session.started.waitForCount(1)
        let transfers = launch()
        if hasArrived { session.finish(0, "Anna's", in: transfers) }
        let call = send(users[1], in: transfers)
        await session.started.waitForCount(2)
        session.finish(1, "Bob's", in: transfers)
        #expect(try await call.value == "Bob's")
        #expect(session.count == 2)
    }

    @Test("A call's request has the owner of the credential that a plugin applied")
    func owner() async throws {
        struct UserPlugin: Plugin {
            func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
                context.credentialOwner = CredentialOwner(identifier: "anna", fields: [.authorization])
                return request
            }
        }
        struct Seen: Transport {
            let owners = Recorder<String?>()

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                owners.append(request.ownerID)
                return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
            }
        }
        let seen = Seen()
        _ = try await Provider<TestTarget>(transport: seen, plugins: [UserPlugin()]).request(TestTarget(.example))
        _ = try await Provider<TestTarget>(transport: seen).request(TestTarget(.example))
        #expect(seen.owners.elements == ["anna", nil])
    }

    @Test("A task that has ended in this launch is not joined by the next call")
    func ended() async throws {
        let transfers = launch()
        let call = send(request(), in: transfers)
        await session.started.waitForCount(1)
        session.fail(0, .networkConnectionLost, in: transfers)
        #expect(await code(of: call) == .networkConnectionLost)
        let next = send(request(), in: transfers)
        await session.started.waitForCount(2)
        session.finish(1, "film", in: transfers)
        #expect(try await next.value == "film")
    }

    @Test("A second call for the same transfer is refused, and does not end the first")
    func second() async throws {
        let transfers = launch()
        let first = send(request(), in: transfers)
        await session.started.waitForCount(1)
        let second = send(request(), in: transfers)
        #expect(await code(of: second) == .unsupportedURL)
        second.cancel()
        #expect(session.cancelled.count == 0)
        session.finish(0, "film", in: transfers)
        #expect(try await first.value == "film")
    }

    // MARK: - Cancelling

    @Test("A call that is cancelled while its body is read creates no task")
    func cancelledWhileReading() async throws {
        let transfers = launch()
        let source = SlowSource()
        let call = send(request(.stream(source)), in: transfers)
        await source.reading.wait()
        call.cancel()
        #expect(await code(of: call) == .cancelled)
        source.go.open()
        await source.left.wait()
        #expect(session.count == 0)
    }

    @Test("A call that is cancelled while the tasks are listed creates no task")
    func cancelledWhileListing() async throws {
        let session = SystemSession(listsAtOnce: false)
        let transfers = launch()
        let call = send(request(), in: transfers, session)
        await session.listing.waitForArrivals()
        call.cancel()
        #expect(await code(of: call) == .cancelled)
        session.listing.open()
        // The second call goes the same way, behind the first one.
        let next = send(request(), in: transfers, session)
        await session.started.waitForCount(1)
        session.finish(0, "film", in: transfers)
        #expect(try await next.value == "film")
        #expect(session.count == 1)
    }

    @Test("The end of a cancelled task does not end the next exchange, nor takes its files")
    func cancelledBefore() async throws {
        let transfers = launch()
        let first = send(request(.data(Data("order".utf8))), in: transfers)
        await session.started.waitForCount(1)
        first.cancel()
        #expect(await code(of: first) == .cancelled)
        let second = send(request(.data(Data("order".utf8))), in: transfers)
        await session.started.waitForCount(2)
        session.fail(0, .cancelled, in: transfers)
        guard case .upload(_, let file) = session.work(1) else { throw URLError(.unknown) }
        #expect(try Data(contentsOf: file) == Data("order".utf8))
        session.finish(1, "done", in: transfers)
        #expect(try await second.value == "done")
        #expect(try storedFiles.isEmpty)
    }

    @Test("A response of a cancelled task is not that of the next exchange")
    func lateResponse() async throws {
        let transfers = launch()
        let first = send(request(), in: transfers)
        await session.started.waitForCount(1)
        first.cancel()
        _ = await first.result
        session.finish(0, "old", in: transfers)
        let second = send(request(), in: transfers)
        await session.started.waitForCount(2)
        session.finish(1, "new", in: transfers)
        #expect(try await second.value == "new")
    }

    @Test("A cancelled download is continued by the next call")
    func continued() async throws {
        let session = SystemSession(resumption: Data("half".utf8))
        let transfers = launch()
        let first = send(request(), in: transfers, session)
        await session.started.waitForCount(1)
        first.cancel()
        _ = await first.result
        session.fail(0, .cancelled, in: transfers)
        let second = send(request(), in: transfers, session)
        await session.started.waitForCount(2)
        guard case .continuation(let data) = session.work(1) else { throw URLError(.unknown) }
        #expect(data == Data("half".utf8))
        session.finish(1, "film", in: transfers)
        #expect(try await second.value == "film")
        #expect(try storedFiles.isEmpty)
    }

    // MARK: - The system

    @Test("A task that the system has cancelled is begun again, from where it stopped", arguments: [true, false])
    func cancelledBySystem(isUpload: Bool) async throws {
        let transfers = launch()
        let call = send(request(isUpload ? .data(Data("order".utf8)) : .none), in: transfers)
        await session.started.waitForCount(1)
        session.fail(0, .cancelled, in: transfers, resumption: isUpload ? nil : Data("half".utf8))
        await session.started.waitForCount(2)
        switch session.work(1) {
        case .upload(_, let file): #expect(try isUpload && Data(contentsOf: file) == Data("order".utf8))
        case .continuation(let data): #expect(!isUpload && data == Data("half".utf8))
        case .download: Issue.record("it began at the start")
        }
        session.finish(1, "done", in: transfers)
        #expect(try await call.value == "done")
    }

    @Test("A POST that the system has cancelled isn't begun again, unless it has a key", arguments: [nil, "a"])
    func cancelledPost(key: String?) async throws {
        let transfers = launch()
        var request = request(.data(Data("order".utf8)))
        request.urlRequest.httpMethod = "POST"
        request.urlRequest.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        let call = send(request, in: transfers)
        await session.started.waitForCount(1)
        session.fail(0, .cancelled, in: transfers)
        if key == nil {
            #expect(await code(of: call) == .cancelled)
            #expect(session.count == 1)
        } else {
            await session.started.waitForCount(2)
            session.finish(1, "done", in: transfers)
            #expect(try await call.value == "done")
        }
    }

    @Test("A request that an earlier process began is joined, or not sent at all", arguments: [true, false])
    func mustJoin(isRunning: Bool) async throws {
        var request = request(.data(Data("order".utf8)), id: "1")
        request.urlRequest.httpMethod = "POST"
        if isRunning {
            _ = send(request, in: launch())
            await session.started.waitForCount(1)
        }
        request.mustJoin = true
        let transfers = launch()
        let call = send(request, in: transfers)
        if isRunning {
            session.finish(0, "done", in: transfers)
            #expect(try await call.value == "done")
        } else {
            await #expect(throws: BegunTransfer.self) { try await call.value }
        }
        #expect(session.count == (isRunning ? 1 : 0))
    }

    @Test("A call fails when the system cancels each of its tasks")
    func cancelledRepeatedly() async throws {
        let transfers = launch()
        let call = send(request(), in: transfers)
        for number in 0...3 {
            await session.started.waitForCount(number + 1)
            session.fail(number, .cancelled, in: transfers)
        }
        #expect(await code(of: call) == .cancelled)
        #expect(session.count == 4)
    }

    @Test("A failure to store the body, or to trust the server, is that of the call")
    func failure() async throws {
        let transfers = launch()
        let call = send(request(), in: transfers)
        await session.started.waitForCount(1)
        transfers.fail(0, with: URLError(.serverCertificateUntrusted))
        session.fail(0, .cancelled, in: transfers)
        #expect(await code(of: call) == .serverCertificateUntrusted)
        #expect(session.count == 1)
    }

    @Test("The events of a session end when the results that were delivered are stored, in whatever order")
    func storing() async throws {
        let transfers = launch()
        let stored = Locked(0)
        let isStored = { @Sendable in stored.withLock { $0 += 1 } }
        transfers.results.whenStored(isStored)
        #expect(stored.withLock(\.self) == 1)
        for id in ["1", "2", "3"] { transfers.results.hold(id) }
        let calls = ["1", "2", "4"].map { send(request(id: $0), in: transfers) }
        await session.started.waitForCount(3)
        for task in 0..<3 { session.finish(task, "film", in: transfers) }
        for call in calls { #expect(try await call.value == "film") }
        // The third one is still running, and nobody stores the fourth.
        transfers.results.whenStored(isStored)
        transfers.results.release("2")
        #expect(stored.withLock(\.self) == 1)
        transfers.results.release("1")
        #expect(stored.withLock(\.self) == 2)
        transfers.results.release("3")
        #expect(stored.withLock(\.self) == 2)
    }

    @Test("A file that has been removed is an error, not an exception of the system")
    func missingFile() async throws {
        let call = send(request(.file(folder.url.appendingPathComponent("missing"))), in: launch())
        #expect(await code(of: call) == .fileDoesNotExist)
        #expect(session.count == 0)
    }
}

@Suite("The events of a background session", .throttled)
@MainActor
struct BackgroundEventsTests {
    @Test("The system's handler is called once, whether it comes before or after the events", arguments: [true, false])
    func handler(isFirst: Bool) {
        let events = BackgroundEvents()
        var count = 0
        if !isFirst { events.finish() }
        events.handle { count += 1 }
        #expect(count == (isFirst ? 0 : 1))
        if isFirst { events.finish() }
        #expect(count == 1)
        events.finish()
        events.handle { count += 1 }
        #expect(count == 1)
        events.finish()
        #expect(count == 2)
    }
}

@Suite("A queue over a background session", .throttled, .timeLimit(.minutes(1)))
struct BackgroundQueueTests {
    /// Records when the queue has stored a result.
    private struct HoldingTransport: JoiningTransport {
        let held = Recorder<String>()
        let released = Recorder<String>()
        let onRelease: @Sendable () -> Void
        let status: Int

        func hold(_ transferID: String) { held.append(transferID) }

        func release(_ transferID: String) {
            onRelease()
            released.append(transferID)
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(head: ResponseHead(statusCode: status), body: .data(Data()))
        }
    }

    @Test("A transfer is released when the file of the queue contains its result", arguments: [200, 404])
    func release(status: Int) async throws {
        let folder = try TemporaryFolder()
        let (file, copy) = (folder.url.appending(path: "a.queue"), folder.url.appending(path: "b.queue"))
        let transport = HoldingTransport(
            onRelease: { try? FileManager.default.copyItem(at: file, to: copy) },
            status: status
        )
        let queue = try TransferQueue(Provider<Media>(transport: transport), storedIn: file)
        let id = try await queue.add(.film(1))
        #expect(try await transport.released.element(0) == id.uuidString)
        #expect(transport.held.elements == [id.uuidString])
        let relaunched = try TransferQueue(Provider<Media>(transport: ControlledTransport()), storedIn: copy)
        #expect(relaunched.transfers.map(\.state.name) == (status == 200 ? [] : ["failed"]))
    }
}

/// A body whose reader waits until the test lets it go on.
private struct SlowSource: BodySource {
    let reading = Expectation()
    let go = Gate()
    let left = Expectation()
    var length: Int64? { nil }

    private final class Reader: BodyReader {
        let source: SlowSource
        var count = 0

        init(_ source: SlowSource) { self.source = source }

        deinit { source.left.fulfill() }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            count += 1
            if count == 1 {
                source.reading.fulfill()
                let semaphore = DispatchSemaphore(value: 0)
                Task { [go = source.go] in
                    await go.wait()
                    semaphore.signal()
                }
                semaphore.wait()
            }
            buffer[0] = 0
            return 1
        }
    }

    func open() -> any BodyReader { Reader(self) }
}
