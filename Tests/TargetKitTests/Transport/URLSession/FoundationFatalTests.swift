// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TargetKitTesting
import TestSupport
import Testing

/// What ends the process in Linux's URLSession, Swift 6.3.1, each shown in a process of its own. A test fails when a
/// new toolchain has mended the trap.
@Suite(
    "Foundation's fatal traps on Linux",
    .throttled,
    .serialized,
    .enabled(if: TrapSession.isAsked, TrapSession.skipReason),
    .timeLimit(.minutes(3))
)
struct FoundationFatalTests {
    @Test("A head that is cut off by the end of the connection ends the process")
    func headCutOff() async throws {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent],
            "mended: take the requirement off the list in TransportConformanceTests"
        ) {
            await TrapProcess.fetch(reply: .raw("HTTP/1.1 200 OK\r\nContent-Le"))
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("there's no response"))
    }

    @Test("Trailers end the process")
    func trailers() async throws {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent],
            "mended: change the documentation of URLSessionTransport"
        ) {
            await TrapProcess.fetch(
                reply: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-A: 1\r\n\r\n")
            )
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("there's no response"))
    }

    @Test("An infinite timeout ends the process")
    func infiniteTimeout() async throws {
        await #expect(processExitsWith: .failure, "mended: URLSessionCall.longestTimeout can be infinity") {
            await TrapProcess.fetch(reply: .status(200)) { $0.timeoutInterval = .infinity }
        }
    }

    @Test("With a cache, a cancel that races the completion ends the process")
    func cachedCancel() async throws {
        await #expect(processExitsWith: .failure, "mended: URLSessionTransport need not take the cache out") {
            await TrapProcess.cancelMany(5_000) {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            }
        }
    }

    @Test("Without a cache, a cancel that races the completion does no harm")
    func uncachedCancel() async throws {
        await #expect(processExitsWith: .success) {
            await TrapProcess.cancelMany(5_000) { _ in }
        }
    }

    @Test("Upload tasks with a file that are cut off end the process")
    func uploadCutOff() async throws {
        await #expect(processExitsWith: .failure, "mended: URLSessionBody could be sent by an upload task") {
            await TrapProcess.uploadMany(60)
        }
    }

    @Test("The process survives a correct exchange, so that the other tests are meaningful")
    func control() async throws {
        await #expect(processExitsWith: .success) {
            await TrapProcess.fetch(reply: .text("x"))
        }
    }
}

/// What runs in the process of its own. Whatever goes wrong that is not the trap ends it with success, which the test
/// of a trap takes for a failure.
enum TrapProcess {
    /// Sends one request to a server that answers like that, and returns when the task has ended.
    static func fetch(reply: TestServer.Response, change: (inout URLRequest) -> Void = { _ in }) async {
        await limited {
            let server = try TestServer(response: reply)
            var request = URLRequest(url: server.baseURL)
            change(&request)
            let probe = TrapSession()
            try await probe.run(request, in: probe.session())
        }
    }

    /// Sends so many requests, and cancels each of them about when its answer comes.
    static func cancelMany(_ count: Int, change: (URLSessionConfiguration) -> Void) async {
        await limited {
            let server = try TestServer(response: .text("x", headers: ["Cache-Control": "max-age=60"]))
            let probe = TrapSession()
            let session = probe.session(change)
            for round in 0..<count {
                let task = session.dataTask(with: URLRequest(url: server.baseURL.appendingPathComponent("\(round)")))
                task.resume()
                if round % 2 == 0 { await server.waitForResponses(round / 2) }
                for _ in 0..<(round % 64) { await Task.yield() }
                task.cancel()
            }
            try await probe.waitForEnd(count)
        }
    }

    /// Uploads a file so many times to a server that resets the connections.
    static func uploadMany(_ count: Int) async {
        await limited {
            var options = TestServer.Options()
            options.onHead = { _ in .response([.stopReading, .wait(for: .milliseconds(2)), .reset]) }
            let server = try TestServer(options: options, response: .status(200))
            let folder = try TemporaryFolder()
            let file = try folder.file("body", Data(count: 8 << 20))
            let probe = TrapSession()
            let session = probe.session()
            var request = URLRequest(url: server.baseURL)
            request.httpMethod = "PUT"
            for _ in 0..<count { session.uploadTask(with: request, fromFile: file).resume() }
            try await probe.waitForEnd(count)
        }
    }

    private static func limited(_ body: () async throws -> Void) async {
        signal(SIGALRM) { _ in _exit(0) }
        alarm(20)
        do { try await body() } catch { print(error) }
        alarm(0)
    }
}
#endif
