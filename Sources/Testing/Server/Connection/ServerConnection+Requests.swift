// SPDX-License-Identifier: MIT

import TargetKit

extension ServerConnection {
    /// Handles the next part of a request that was read.
    ///
    /// - Returns: Whether there was one.
    func readRequest() -> Bool {
        // A pipelined request waits for the previous response.
        guard !(isResponding && isBodyComplete) else { return false }
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
        hasRespondedEarly = false
        closesAfterResponse = request.wantsClose
        self.request = request
        state.heads.add()
        if case .response(let response)? = state.options.onHead?(request) {
            hasRespondedEarly = true
            _ = state.record(request)
            start(response.element(at: 0).steps)
        } else if head.expectsContinue && state.options.expectContinue == .send {
            output.append(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
    }

    private func take(_ data: Data) {
        guard !hasRespondedEarly else { return }
        request?.bodyByteCount += Int64(data.count)
        request?.bodyDigest.update(data)
        if state.options.storesBodies { request?.body.append(data) }
    }

    private func complete(_ trailers: HTTPHeaders) {
        isBodyComplete = true
        request?.trailers = trailers
        guard !hasRespondedEarly, let request else {
            if !isResponding { request = nil }
            return
        }
        let recorded = state.record(request)
        switch state.responder {
        case .routes(let routes): start(steps(of: routes, request: recorded))
        case .response(let response): start(response.element(at: request.index).steps)
        case .closure(let respond): wait(for: respond, request: request)
        }
    }

    /// The steps of the first matching route, or of a 404 that explains why none matches.
    private func steps(
        of routes: RouteTable<TestServer.Response.Element>,
        request: RecordedRequest
    ) -> [TestServer.Step] {
        do {
            return try routes.next(for: request).element.steps
        } catch {
            return TestServer.Response.text("\(error)\n", status: 404).steps
        }
    }

    private func wait(
        for respond: @escaping @Sendable (TestServer.Request) async -> TestServer.Response,
        request: TestServer.Request
    ) {
        isResponding = true
        hold = .response
        token += 1
        let (state, number, token) = (state, number, token)
        task = Task {
            state.post(.response(connection: number, token: token, await respond(request)))
        }
    }

    /// Runs the response that the server's closure returned.
    func begin(_ response: TestServer.Response, token: Int) {
        guard token == self.token, hold == .response else { return }
        start(response.element(at: 0).steps)
        advance()
    }

    private func start(_ steps: [TestServer.Step]) {
        isResponding = true
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
