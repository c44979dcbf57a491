// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("TLSServer", .throttled, .timeLimit(.minutes(2)))
struct TLSServerTests {
    @Test("Sending to a server that has ended does not end the tests")
    func endedServer() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let server = try TLSServer(["/bin/sh", "-c", "echo ACCEPT 127.0.0.1:1"], in: TemporaryFolder())
            // The output ends when the server does.
            _ = await server.output(through: "never")
            server.send(Data("text".utf8))
            await server.answer(Data("text".utf8), to: "never")
        }
    }

    @Test("A server receives what is sent to it")
    func received() async throws {
        let server = try TLSServer(["/bin/sh", "-c", "echo ACCEPT 127.0.0.1:1; exec cat"], in: TemporaryFolder())
        server.send(Data("received\n".utf8))
        #expect(await server.output(through: "received") == "received\n")
    }
}
#endif
