// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Calls that do not end by themselves.
@Suite(
    "httpbin and nginx: timeouts and cancelling",
    .throttled,
    .needs(.httpbin),
    .needs(.nginx),
    .timeLimit(.minutes(2))
)
struct EndingTests {
    @Test("Half a second is a timeout, before the head and within the body", arguments: Engine.allCases)
    func timeout(engine: Engine) async throws {
        for path in ["/delay/10", "/drip?duration=900&numbytes=900&delay=0"] {
            let call = ServerCall.httpbin(.get, "\(raw: path)").with {
                $0.options.timeout = .exchange(.milliseconds(500))
            }
            let error = await engine.failure(of: call)
            #expect(error?.stage == .transport)
            #expect(error?.kind == .timedOut)
        }
        #expect(try await engine.response(to: .httpbin(.get, "/delay/0")).statusCode == 200)
    }

    @Test("A slow answer within its time arrives whole", arguments: Engine.allCases)
    func slow(engine: Engine) async throws {
        let call = ServerCall.httpbin(.get, "/drip?duration=1&numbytes=5&delay=0&code=203")
        let response = try await engine.response(to: call)
        #expect(response.statusCode == 203)
        #expect(response.data == Data("*****".utf8))
    }

    @Test("Nobody at the address is a call that cannot connect", arguments: Engine.allCases)
    func nobody(engine: Engine) async throws {
        let port = try ClosedPort()
        var call = ServerCall.httpbin(.get, "/anything")
        call.baseURL = port.baseURL
        let error = await engine.failure(of: call)
        withExtendedLifetime(port) {}
        #expect(error?.stage == .transport)
        #expect(error?.kind == .cannotConnect)
    }

    @Test(
        "Cancelling a scope ends fifty calls of two providers in flight, and the next call works",
        arguments: Engine.allCases
    )
    func cancelAll(engine: Engine) async throws {
        let recorder = RecordingPlugin()
        let scope = RequestScope()
        let transport = engine.ownTransport
        let providers = [[recorder], []].map { plugins in
            Provider<ServerCall>(transport: transport, plugins: plugins, scope: scope)
        }
        let endings = Recorder<TargetKitError?>()
        for index in 0..<50 {
            providers[index % 2].request(.endless, on: .global()) { result in
                if case .failure(let error) = result { endings.append(error) } else { endings.append(nil) }
            }
        }
        #expect(scope.inFlightCount == 50)
        await recorder.waitForEvents(50)
        scope.cancelAll()
        let stages = await endings.waitForCount(50).map { $0?.stage }
        #expect(stages == Array(repeating: .cancelled, count: 50))
        #expect(scope.inFlightCount == 0)
        #expect(try await providers[0].request(.httpbin(.get, "/status/200")).statusCode == 200)
    }

    @Test("Cancelling the task ends a download halfway, and leaves no file", arguments: Engine.allCases)
    func download(engine: Engine) async throws {
        let folder = try TemporaryFolder()
        let file = NginxFile(Data(count: 4 << 20))
        let target = folder.url.appendingPathComponent("half")
        let started = Expectation()
        let ended = Recorder<TargetKitError?>()
        let call = ServerCall.nginx(.get, "/slow/\(file.name)", .download(to: target))
        try await file.put()
        let handle = engine.provider().request(call, on: .global()) { progress in
            if progress.completed > 0 { started.fulfill() }
        } completion: { result in
            if case .failure(let error) = result { ended.append(error) } else { ended.append(nil) }
        }
        await started.wait()
        handle.cancel()
        #expect(await ended.waitForCount(1).map { $0?.stage } == [.cancelled])
        #expect(folder.names.isEmpty)
        try await file.remove()
    }
}
