// SPDX-License-Identifier: MIT

import Foundation
import TargetKit

extension ServerConnection {
    /// Takes the next piece of a request out of what has been read; says whether there was one.
    func readRequest() -> Bool {
        // A pipelined request waits until the one before is answered.
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
            method: head.method,
            target: head.target,
            httpVersion: head.httpVersion,
            headers: head.headers,
            connection: number,
            number: requestCount,
            index: core.heads.value,
            rawHead: head.raw
        )
        request.isChunked = head.isChunked
        requestCount += 1
        isBodyComplete = false
        isAnsweredEarly = false
        closesAfterAnswer = request.wantsClose
        self.request = request
        core.heads.add()
        if case .reply(let reply)? = core.options.onHead?(request) {
            isAnsweredEarly = true
            core.record(request)
            start(reply)
        } else if head.expectsContinue && core.options.expectContinue == .answer {
            output.append(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
    }

    private func take(_ data: Data) {
        guard !isAnsweredEarly else { return }
        request?.bodyByteCount += Int64(data.count)
        request?.bodyDigest.update(data)
        if core.options.storesBodies { request?.body.append(data) }
    }

    private func complete(_ trailers: HTTPHeaders) {
        isBodyComplete = true
        request?.trailers = trailers
        guard !isAnsweredEarly, let request else {
            if !isAnswering { request = nil }
            return
        }
        isAnswering = true
        hold = .answer
        token += 1
        core.record(request)
        let (core, number, token) = (core, number, token)
        task = Task {
            core.post(.reply(connection: number, token: token, await core.answer(request)))
        }
    }

    /// The answer that was asked for is there.
    func begin(_ reply: TestServer.Reply, token: Int) {
        guard token == self.token, hold == .answer else { return }
        start(reply)
        pump()
    }

    private func start(_ reply: TestServer.Reply) {
        isAnswering = true
        hold = .none
        steps = reply.steps.reversed()
    }

    private func refuse(_ malformed: RequestParser.Malformed) {
        core.violations.append(malformed.reason)
        isBodyComplete = true
        discardsInput = true
        start([.head(status: malformed.status, headers: ["Content-Length": "0", "Connection": "close"]), .close])
    }
}
