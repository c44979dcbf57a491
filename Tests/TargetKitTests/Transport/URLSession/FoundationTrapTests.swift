// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TargetKitTesting
import TestSupport
import Testing

/// What Linux's URLSession does wrong or not at all, Swift 6.3.1. Each test shows one trap and names what is done about
/// it; it fails when a new toolchain has mended the trap, and the workaround can go.
@Suite(
    "Foundation's traps on Linux",
    .throttled,
    .serialized,
    .enabled(if: TrapSession.isAsked, TrapSession.skipReason),
    .timeLimit(.minutes(3))
)
struct FoundationTrapTests {
    private let probe = TrapSession()

    @Test("A redirect that is followed takes Authorization and Cookie to another origin")
    func redirectKeepsSecrets() async throws {
        let other = try TestServer(response: .status(200))
        let server = try TestServer(response: .redirect(to: other.baseURL.absoluteString + "/x"))
        var request = URLRequest(url: server.baseURL)
        request.allHTTPHeaderFields = ["Authorization": "Bearer secret", "Cookie": "id=secret"]
        try await probe.run(request, in: probe.session())
        let sent = try await other.request(at: 0).headers
        let remedy: Comment =
            "mended: SessionDelegate refuses redirects for more reasons than this one; change DESIGN only"
        #expect(sent["Authorization"] == "Bearer secret", remedy)
        #expect(sent["Cookie"] == "id=secret", remedy)
    }

    @Test("A 307 that is followed sends the body again as nothing")
    func redirectLosesBody() async throws {
        let server = try TestServer { $0.path == "/x" ? .status(200) : .redirect(to: "/x", status: 307) }
        var request = URLRequest(url: server.baseURL)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        try await probe.run(request, in: probe.session())
        #expect(server.requests.map(\.text) == ["body", ""], "mended: change DESIGN only, redirects are TargetKit's")
        #expect(server.requests.last?.method == "POST")
    }

    @Test("A redirect status without Location reaches the delegate with neither head nor body")
    func redirectWithoutLocation() async throws {
        let server = try TestServer(response: .text("where?", status: 302))
        try await probe.run(URLRequest(url: server.baseURL), in: probe.session())
        let remedy: Comment =
            "mended: URLSessionExchange need not look for the head in the task"
        #expect(probe.statuses.isEmpty, remedy)
        #expect(probe.body.isEmpty, remedy)
        #expect(probe.error == nil)
    }

    @Test("A 401 that asks for Basic never ends, not even by its timeout", arguments: [true, false])
    func basicNeverEnds(asksDelegate: Bool) async throws {
        let reply = TestServer.Response.text("who?", status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
        let server = try TestServer { request in request.path == "/401" ? reply : .hang }
        let session = probe.session { $0.timeoutIntervalForRequest = 1 }
        session.dataTask(with: URLRequest(url: server.baseURL.appendingPathComponent("401"))).resume()
        await server.waitForResponses(1)
        // Two calls that do time out, one after the other: by then the first one has had twice its time.
        for count in 1...2 { try await probe.run(URLRequest(url: server.baseURL), in: session, ended: count) }
        #expect(probe.endedCount == 2, "mended: SessionDelegate need not end the exchange when it is challenged")
        #expect(probe.statuses == [401])
        #expect(probe.body == Data("who?".utf8))
    }

    @Test("A 401 that asks for Basic ends as cancelled when the challenge is declined, its response before it")
    func declinedChallenge() async throws {
        let reply = TestServer.Response.text("who?", status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
        let probe = TrapSession(TrapSession.Answers(challenge: .cancelAuthenticationChallenge))
        let server = try TestServer(response: reply)
        try await probe.run(URLRequest(url: server.baseURL), in: probe.session())
        #expect(
            probe.error?.code == .cancelled,
            "mended: SessionDelegate need not end the exchange when it is challenged"
        )
        #expect(probe.statuses == [401])
    }

    @Test("A body from a stream arrives empty with a 200 when its connection was closed, unless there is a fresh one")
    func streamArrivesEmpty() async throws {
        for (body, arrived) in [(nil, ""), (Data("fresh".utf8), "fresh")] {
            let probe = TrapSession(TrapSession.Answers(body: body))
            let session = probe.session()
            // The kept-alive connection ends under the second request, so that libcurl sends it again on another.
            let server = try TestServer { $0.connection == 0 && $0.number == 1 ? .close : .status(200) }
            try await probe.run(URLRequest(url: server.baseURL), in: session)
            var request = URLRequest(url: server.baseURL)
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            try await probe.run(request, in: session, ended: 2)
            #expect(probe.statuses == [200, 200])
            #expect(
                server.requests.map(\.text) == ["", "body", arrived],
                "mended: URLSessionBody need not read sources first"
            )
        }
    }

    @Test("Suspending and resuming a task sends its request again")
    func resumeSendsAgain() async throws {
        let server = try TestServer(response: .hang)
        let task = probe.session().dataTask(with: URLRequest(url: server.baseURL))
        task.resume()
        await server.waitForRequests(1)
        task.suspend()
        await server.waitForConnections(closed: 1)
        task.resume()
        await server.waitForRequests(2)
        #expect(server.requestCount == 2, "mended: URLSessionStreaming.system can be .paced here too")
        task.cancel()
    }

    @Test("A timeout of less than a second is observed")
    func shortTimeout() async throws {
        let server = try TestServer(response: .hang)
        var request = URLRequest(url: server.baseURL)
        request.timeoutInterval = 0.9
        let start = ContinuousClock.now
        try await probe.run(request, in: probe.session())
        #expect(probe.error?.code == .timedOut)
        let remedy: Comment = "mended: URLSessionCall need not round up"
        #expect(ContinuousClock.now - start < .milliseconds(850), remedy)
    }

    @Test("URLSession does not observe the time limit of the whole call")
    func resourceTimeout() async throws {
        let bytes = Data(count: 30)
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Length": "30"]),
            .drip(bytes, chunkSize: 1, every: .milliseconds(70)),
        ])
        let session = probe.session { $0.timeoutIntervalForResource = 1 }
        try await probe.run(URLRequest(url: server.baseURL), in: session)
        #expect(probe.error == nil, "mended: URLSessionExchange still needs its own clock, for milliseconds")
        #expect(probe.body == bytes)
    }

    @Test("An IPv6 address in the URL is a bad URL")
    func ipv6() async throws {
        var options = TestServer.Options()
        options.address = .ipv6
        let server = try TestServer(options: options, response: .status(200))
        try await probe.run(URLRequest(url: server.baseURL), in: probe.session())
        #expect(probe.error?.code == .badURL, "mended: change the documentation of URLSessionTransport")
    }

    @Test("A body that is cut short is the error \"unknown\"")
    func truncatedBody() async throws {
        let server = try TestServer(response: [
            .head(status: 200, headers: ["Content-Length": "10"]), .text("abc"), .close,
        ])
        try await probe.run(URLRequest(url: server.baseURL), in: probe.session())
        #expect(probe.error?.code == .unknown, "mended: URLSessionExchange need not replace the code")
    }

    @Test("One byte of a header field that is not UTF-8 fails the call")
    func fieldThatIsNotUTF8() async throws {
        let head = Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Name: Andr".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A]
        let server = try TestServer(response: [.bytes(head), .close])
        try await probe.run(URLRequest(url: server.baseURL), in: probe.session())
        #expect(probe.error != nil, "mended: take its requirement off the list in TransportConformanceTests")
    }

    @Test("The temporary file of a download is not removed")
    func downloadStays() async throws {
        let server = try TestServer(response: .text("kept"))
        let download = DownloadProbe()
        let session = URLSession(configuration: .ephemeral, delegate: download, delegateQueue: nil)
        session.downloadTask(with: URLRequest(url: server.baseURL)).resume()
        let place = try await download.places.element(0)
        try await download.ended.wait(for: 1)
        // The session lets go of the task after that; nothing else is going to remove the file.
        session.finishTasksAndInvalidate()
        try await download.invalidated.wait(for: 1)
        #expect(
            FileManager.default.fileExists(atPath: place.path),
            "mended: URLSessionBodyWriter could be a download task"
        )
        try? FileManager.default.removeItem(at: place)
    }

    @Test("User name and password in a URL are sent as Authorization")
    func userInfo() async throws {
        let server = try TestServer(response: .status(200))
        let url = try #require(URL(string: "http://user:secret@127.0.0.1:\(server.port)/"))
        try await probe.run(URLRequest(url: url), in: probe.session())
        let sent = try await server.request(at: 0).headers["Authorization"]
        #expect(sent?.hasPrefix("Basic ") == true, "mended: URLSessionCall need not take them out")
    }

    @Test("A line break in a header field's name makes a second field")
    func injectedField() async throws {
        let server = try TestServer(response: .status(200))
        var request = URLRequest(url: server.baseURL)
        request.allHTTPHeaderFields = ["X-A: 1\r\nX-B": "2"]
        try await probe.run(request, in: probe.session())
        #expect(
            try await server.request(at: 0).headers["X-B"] == "2",
            "mended: the check of names is still good to have"
        )
    }
}

/// Hears of downloads.
private final class DownloadProbe: NSObject, URLSessionDownloadDelegate {
    let places = Recorder<URL>()
    let ended = Tally()
    let invalidated = Tally()

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        places.append(location)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.add()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalidated.add()
    }
}
#endif
