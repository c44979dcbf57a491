// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CassetteTests {
    /// Answers with the same number in the header field `X-N` and in the body.
    private func numbering() -> StubTransport {
        let count = Tally()
        return StubTransport { _ in
            count.add()
            let headers: HTTPHeaders = ["Content-Type": "text/plain", "X-N": "\(count.value)"]
            return .response(status: 200, headers: headers, data: Data("\(count.value)".utf8))
        }
    }

    private func tags(_ response: TransportResponse) -> [String?] { [response.head.headers["X-N"], response.text] }

    @Test("A call that found the old document replays the new entry as a whole")
    func rereading() async throws {
        let transport = numbering()
        _ = try await send(TestCall(), cassette(.record, transport))
        let old = cassette(.replay)
        #expect(try old.entries.count == 1)
        let oldNames = Set(folder.names)
        _ = try await send(TestCall(), cassette(.record, transport))
        #expect(names == ["001-GET.json", "001-GET.response.txt"])
        #expect(Set(folder.names).subtracting(oldNames).count == 1)
        #expect(tags(try await send(TestCall(), old)) == ["2", "2"])
    }

    @Test("Calls that replay while an entry is recorded again never get the head of one answer and the body of another")
    func concurrentRewriting() async throws {
        let transport = numbering()
        _ = try await send(TestCall(), cassette(.record, transport))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<150 { _ = try await self.send(TestCall(), self.cassette(.record, transport)) }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<150 {
                        let tags = self.tags(try await self.send(TestCall(), self.cassette(.replay)))
                        #expect(tags[0] == tags[1])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(folder.names.count == 2)
    }

    @Test("A body that was edited keeps its name while its document is there")
    func editedBody() async throws {
        _ = try await send(TestCall(), cassette(.record, numbering()))
        let name = try #require(folder.names.first { $0.hasPrefix("001-GET.response") })
        _ = try folder.file(name, Data("edited".utf8))
        #expect(try await send(TestCall(), cassette(.replay)).text == "edited")
        _ = try await send(TestCall(), cassette(.record, numbering()))
        #expect(try await send(TestCall(), cassette(.replay)).text == "1")
        #expect(!folder.names.contains(name))
        #expect(folder.names.count == 2)
    }

    @Test("Files that a killed recording has left are removed by the next one")
    func leftovers() async throws {
        _ = try await send(TestCall(), cassette(.record, numbering()))
        let old = [
            "007-GET-x.response-0.txt", "008-GET-x.request-0.json", ".001-GET.json.2x.part",
            ".009-GET-x.response-0.txt.3y.part", ".mine.part", "002-mine.txt",
        ]
        for name in old {
            let file = try folder.file(name)
            let date = Date(timeIntervalSinceNow: -4_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
        }
        for name in [".001-GET.json.1z.part", "001-GET.response-0.txt", "009-GET.response-0.txt"] {
            _ = try folder.file(name)
        }
        _ = try await send(TestCall(), cassette(.record, numbering()))
        #expect(
            names == [
                ".001-GET.json.1z.part", ".mine.part", "001-GET.json", "001-GET.response.txt", "002-mine.txt",
                "009-GET.response.txt",
            ]
        )
    }

    // MARK: - Calls that end early

    @Test(
        "A replayed call that is cancelled, and a stream that is not read to its end, leave the entry to the next call"
    )
    func releasedEntries() async throws {
        _ = try await send(TestCall(), cassette(.record, numbering()))
        let replaying = cassette(.replay)
        let request = try TestCall().request(to: base)
        let isCancelled = Gate()
        let task = Task {
            await isCancelled.wait()
            return try await replaying.send(request)
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try replaying.unusedEntries.count == 1)
        let stream = TestCall(destination: .stream(buffer: 1))
        for _ in 0..<2 {
            do {
                guard case .stream(let body) = try await send(stream, replaying).body else { return }
                #expect(try replaying.unusedEntries.isEmpty)
                _ = body
            }
            // The last reference to the stream can be that of a task that is ending.
            while try replaying.unusedEntries.isEmpty {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        #expect(try replaying.unusedEntries.count == 1)
        let missing = folder.url.appendingPathComponent("none/file")
        await #expect(throws: (any Error).self) {
            try await send(TestCall(destination: .file(missing)), replaying)
        }
        #expect(tags(try await send(TestCall(), replaying)) == ["1", "1"])
        await #expect(throws: CassetteError.self) { try await send(TestCall(), replaying) }
    }

    @Test("A replayed stream whose reader is cancelled leaves the entry to the next call at once")
    func cancelledStream() async throws {
        _ = try await send(TestCall(), cassette(.record, numbering()))
        let replaying = cassette(.replay)
        guard case .stream(let body) = try await send(TestCall(destination: .stream(buffer: 1)), replaying).body
        else { return }
        let isCancelled = Gate()
        let task = Task {
            await isCancelled.wait()
            for try await _ in body {}
        }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try replaying.unusedEntries.count == 1)
        withExtendedLifetime(body) {}
    }

    @Test("A repeated entry stays used when the call that repeated it ends early")
    func repeatedEntries() async throws {
        _ = try await send(TestCall(), cassette(.record, numbering()))
        let repeating = cassette(.replay, repeats: true)
        _ = try await send(TestCall(), repeating)
        _ = try await send(TestCall(destination: .stream(buffer: 1)), repeating)
        #expect(try repeating.unusedEntries.isEmpty)
    }

    @Test("A response that arrives for a cancelled call is not recorded")
    func lateResponse() async throws {
        let task = Task {
            let recording = cassette(
                .record,
                StubTransport { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw URLError(.networkConnectionLost)
                }
            )
            _ = try await send(TestCall(), recording)
        }
        await #expect(throws: (any Error).self) { try await task.value }
        let whole = Task {
            struct Late: Transport {
                func send(_ request: TransportRequest) async throws -> TransportResponse {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data("a".utf8)))
                }
            }
            _ = try await send(TestCall(), cassette(.record, Late()))
        }
        await #expect(throws: CancellationError.self) { try await whole.value }
        #expect(folder.names.isEmpty)
    }

    @Test("An entry that could not be recorded again is kept, and is recorded by the next call")
    func failedRecording() async throws {
        let transport = numbering()
        _ = try await send(TestCall(), cassette(.record, transport))
        let failing = Tally()
        let again = cassette(
            .replay,
            StubTransport { request in
                failing.add()
                if failing.value == 1 { throw URLError(.networkConnectionLost) }
                return .response(status: 200, headers: ["X-N": "b"], data: Data("b".utf8))
            }
        )
        again.rerecord(try #require(try again.entries.first))
        await #expect(throws: URLError(.networkConnectionLost)) { try await send(TestCall(), again) }
        #expect(tags(try await send(TestCall(), cassette(.replay))) == ["1", "1"])
        #expect(tags(try await send(TestCall(), again)) == ["b", "b"])
        #expect(tags(try await send(TestCall(), cassette(.replay))) == ["b", "b"])
    }

    @Test("Auto does not record failures")
    func autoFailures() async throws {
        let offline = cassette(.auto, StubTransport(.failure(URLError(.notConnectedToInternet))))
        await #expect(throws: URLError(.notConnectedToInternet)) { try await send(TestCall(), offline) }
        #expect(folder.names.isEmpty)
        #expect(tags(try await send(TestCall(), cassette(.auto, numbering()))) == ["1", "1"])
    }
}
