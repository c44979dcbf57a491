// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What the thread of a transport meets when the program exits, as a command-line tool does whose calls have ended, or
/// that doesn't wait for them.
@Suite("CurlTransport: the exit of the process", .throttled, .timeLimit(.minutes(2)))
struct CurlExitTests {
    private static let atExit = Locked<(@Sendable () -> Void)?>(nil)

    @Test(
        "A call over TLS works while the process exits",
        .enabled(if: TLSServer.isAvailable, "skipped: there is no /usr/bin/openssl")
    )
    func callWhileExiting() async throws {
        await #expect(processExitsWith: .success) {
            // What a library registers later runs before.
            atexit { Self.atExit.withLock(\.self)?() }
            let server = try TLSServer()
            let transport = CurlTransport(proxy: .none, tls: TLSPolicy(trust: .insecureTrustAll(for: ["localhost"])))
            if await TestCall().failure(at: server.baseURL, with: transport) != nil { exit(3) }
            Self.atExit.withLock { work in
                work = {
                    let isDone = DispatchSemaphore(value: 0)
                    Task.detached {
                        if await TestCall().failure(at: server.baseURL, with: transport) != nil { _exit(2) }
                        isDone.signal()
                    }
                    isDone.wait()
                }
            }
        }
    }
}
#endif
