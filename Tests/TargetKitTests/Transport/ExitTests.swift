// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

/// What the threads of a transport meet when the program exits, as a command-line tool does whose calls have ended, or
/// that doesn't wait for them.
@Suite("The exit of the process", .throttled, .timeLimit(.minutes(2)))
struct ExitTests {
    enum Engine: String, CaseIterable, Codable {
        case curl, urlSession

        func transport() -> any Transport {
            switch self {
            case .curl: CurlTransport(proxy: .none, tls: TLSPolicy(trust: .insecureTrustAll(for: ["localhost"])))
            case .urlSession: URLSessionTransport.another()
            }
        }
    }

    private static let atExit = Locked<(@Sendable () -> Void)?>(nil)

    @Test(
        "A call over TLS works while the process exits",
        .enabled(if: TLSServer.isAvailable, "skipped: there is no /usr/bin/openssl"),
        arguments: Engine.allCases
    )
    func call(engine: Engine) async {
        await #expect(processExitsWith: .success) { [engine] in
            // What a library registers later runs before.
            atexit { Self.atExit.withLock(\.self)?() }
            let server = try TLSServer()
            let transport = engine.transport()
            // URLSession doesn't trust the server.
            let code = await TestCall().failure(at: server.baseURL, with: transport)
            if (code == nil) != (engine == .curl) { exit(2) }
            Self.atExit.withLock { work in
                work = {
                    let isDone = DispatchSemaphore(value: 0)
                    Task.detached {
                        if await TestCall().failure(at: server.baseURL, with: transport) != code { _exit(3) }
                        isDone.signal()
                    }
                    isDone.wait()
                }
            }
        }
    }
}
#endif
