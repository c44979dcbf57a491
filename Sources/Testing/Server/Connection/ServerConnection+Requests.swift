// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

extension ServerConnection {
    /// Handles the next part of a request that has been read.
    ///
    /// - Returns: Whether there was one.
    func readRequest() -> Bool {
        // A pipelined request waits for the reply to the one before.
        guard !(isAnswering && isBodyComplete) else { return false }
        do {
            guard let event = try parser.next() else { return false }
            take(event)
            return true
        } catch let malformed as RequestParser.Malformed {
            refuse(malformed)
        } catch {
            end(isReset: false)
        }
        return true
    }

    private func take(_ event: RequestParser.Event) {
        switch event {
        case .head(let head): begin(head)
        case .chunkBegan: request?.chunkCount += 1
        case .body(let data): take(data)
        case .end(let trailers): complete(trailers)
        }
    }

    private func begin(_ head: RequestHead) {
        var request = TestServer.Request(
            method: HTTPMethod(rawValue: head.method),
            target: head.target,
            httpVersion: head.httpVersion,
            headers: head.headers,
            connection: number,
            number: requestCount,
            index: state.heads.value,
            rawHead: head.raw
        )
        request.isChunked = head.isChunked
        requestCount += 1
        isBodyComplete = false
        isAnsweredEarly = false
        closesAfterAnswer = request.wantsClose
        self.request = request
        state.heads.add()
        if case .reply(let reply)? = state.options.onHead?(request) {
            isAnsweredEarly = true
            _ = state.record(request)
            start(reply.response(at: 0).steps)
        } else if head.expectsContinue && state.options.expectContinue == .answer {
            output.append(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
    }

    private func take(_ data: Data) {
        guard !isAnsweredEarly else { return }
        request?.bodyByteCount += Int64(data.count)
        request?.bodyDigest.update(data)
        if state.options.storesBodies { request?.body.append(data) }
    }

    private func complete(_ trailers: HTTPHeaders) {
        isBodyComplete = true
        request?.trailers = trailers
        guard !isAnsweredEarly, let request else {
            if !isAnswering { request = nil }
            return
        }
        let recorded = state.record(request)
        switch state.answer {
        case .routes(let routes): start(steps(of: routes, recorded))
        case .reply(let reply): start(reply.response(at: request.index).steps)
        case .closure(let answer): wait(for: answer, request)
        }
    }

    /// The steps of the first route that matches, or those of a 404 that explains why none does.
    private func steps(
        of routes: RouteTable<TestServer.Reply.Response>,
        _ request: RecordedRequest
    ) -> [TestServer.Step] {
        do {
            return try routes.next(for: request).step.steps
        } catch {
            return TestServer.Reply.text("\(error)\n", status: 404).steps
        }
    }

    private func wait(
        for answer: @escaping @Sendable (TestServer.Request) async -> TestServer.Reply,
        _ request: TestServer.Request
    ) {
        isAnswering = true
        hold = .answer
        token += 1
        let (state, number, token) = (state, number, token)
        task = Task {
            state.post(.reply(connection: number, token: token, await answer(request)))
        }
    }

    /// Runs the reply that the server's closure has returned.
    func begin(_ reply: TestServer.Reply, token: Int) {
        guard token == self.token, hold == .answer else { return }
        start(reply.response(at: 0).steps)
        advance()
    }

    private func start(_ steps: [TestServer.Step]) {
        isAnswering = true
        hold = .none
        self.steps = steps.reversed()
    }

    private func refuse(_ malformed: RequestParser.Malformed) {
        state.violations.append(malformed.reason)
        isBodyComplete = true
        discardsInput = true
        start([.head(status: malformed.status, headers: ["Content-Length": "0", "Connection": "close"]), .close])
    }
}
