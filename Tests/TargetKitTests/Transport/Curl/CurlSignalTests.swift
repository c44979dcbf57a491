// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

@testable import TargetKit

/// `SIGPIPE`, which ends a program that does not handle it.
@Suite("CurlTransport: SIGPIPE", .throttled, .timeLimit(.minutes(3)))
struct CurlSignalTests {
    /// Whether the calling thread blocks `SIGPIPE`.
    private static var isBlocked: Bool {
        var signals = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &signals)
        return sigismember(&signals, SIGPIPE) == 1
    }

    @Test("A thread that starts during a call, and a process that it starts, do not block SIGPIPE")
    func inherited() async throws {
        await #expect(processExitsWith: .success) {
            // Keeps Dispatch's threads busy, so that the transport's thread has to start one for its report.
            let (started, gate) = (Recorder<Int>(), DispatchSemaphore(value: 0))
            for index in 0..<64 {
                DispatchQueue(label: "busy-\(index)").async {
                    started.append(index)
                    gate.wait()
                }
            }
            await started.waitForCount(64)
            let masks = Recorder<String>()
            let call = TestCall { _ in
                let status = try? ChildProcess.run("/bin/cat", ["/proc/self/status"]).output
                let lines = String(decoding: status ?? Data(), as: UTF8.self).split(separator: "\n")
                let mask = lines.first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last
                masks.append(Self.isBlocked ? "blocked" : String(mask ?? "unknown"))
            }
            let server = try TestServer(response: .text("fine"))
            guard try await call.send(to: server, with: CurlTransport.another()).text == "fine" else { exit(2) }
            guard let mask = await masks.waitForCount(1).first.flatMap({ UInt64($0, radix: 16) }) else { exit(3) }
            if mask & 1 << (SIGPIPE - 1) != 0 { exit(4) }
        }
    }

    @Test("While libcurl works, SIGPIPE is blocked and dropped if libcurl raises it; a callback runs without")
    func raising() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var blocked = [Self.isBlocked]
            CurlLibrary.withBrokenPipesBlocked(if: true) {
                blocked.append(Self.isBlocked)
                pthread_kill(pthread_self(), SIGPIPE)
                CurlLibrary.withBrokenPipesUnblocked(if: true) { blocked.append(Self.isBlocked) }
                blocked.append(Self.isBlocked)
                pthread_kill(pthread_self(), SIGPIPE)
            }
            blocked.append(Self.isBlocked)
            CurlLibrary.withBrokenPipesBlocked(if: false) { blocked.append(Self.isBlocked) }
            if blocked != [false, true, false, true, false, false] { exit(2) }
        }
    }

    @Test(
        "A server that ends during an upload does not end the process",
        .enabled(if: TLSServer.isAvailable, "skipped: there is no /usr/bin/openssl"),
        arguments: ["-tls1_2", "-tls1_3"]
    )
    func endedServer(version: String) async throws {
        await #expect(processExitsWith: .success) { [version] in
            signal(SIGPIPE, SIG_DFL)
            // It prints what it receives, and stops reading because its output is not read.
            var server: TLSServer? = try TLSServer(arguments: [version])
            let base = try #require(server?.baseURL)
            var configuration = CurlTransport.Configuration.patient
            configuration.tls.trust = .insecureTrustAll(for: ["localhost"])
            let transport = CurlTransport(configuration: configuration)
            let reports = Recorder<Int64>()
            let upload = TestCall(method: "POST", body: .data(Data(count: 64 << 20))) { reports.append($0.completed) }
            async let code = upload.failure(at: base, with: transport)
            await reports.waitForCount(1)
            server = nil
            guard await code != nil else { exit(2) }
        }
    }
}
#endif
