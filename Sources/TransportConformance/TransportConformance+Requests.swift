// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let requests: [TransportRequirement] = [
        TransportRequirement("sendsMethod", description: "It sends every method unchanged") { transport in
            let server = try TestServer(response: .status(200))
            let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT"]
            for method in methods { try await TestCall(method: method).send(to: server, with: transport) }
            try expect("the methods", value: server.requests.map(\.method.rawValue), is: methods)
        },
        TransportRequirement("sendsPathAndQuery", description: "It sends path and query unchanged") { transport in
            let server = try TestServer(response: .status(200))
            for target in [
                "/", "/a%2Fb/%C3%A9", "/a//b/", "/a?", "/a?q=a%20b&plus=1+2&x=%2B&x=%26", "/a%20b;v=1?q=%25",
            ] {
                try await TestCall(path: target).send(to: server, with: transport)
                try expect("the target", value: server.requests.last?.target, is: target)
            }
        },
        TransportRequirement("omitsFragment", description: "It doesn't send the fragment") { transport in
            let server = try TestServer(response: .status(200))
            try await TestCall(path: "/a?q=1#part").send(to: server, with: transport)
            try expect("the target", value: server.requests.last?.target, is: "/a?q=1")
        },
        TransportRequirement("sendsHeaders", description: "It sends header fields unchanged") { transport in
            let server = try TestServer(response: .status(200))
            let headers = [
                "X-Plain": "one, two; three=\"four\"", "X-Empty": "", "Accept": "application/json",
                "User-Agent": "conformance/1", "Authorization": "Bearer abc", "Cookie": "a=b",
                "Content-Type": "application/json; charset=utf-8", "X-Text": "é",
            ]
            let body = TransportRequest.Body.data(Data("{}".utf8))
            try await TestCall(method: "POST", headers: headers, body: body).send(to: server, with: transport)
            let sent = try await server.request(at: 0).headers
            for (name, value) in headers {
                try expect(
                    "the values of \(name)",
                    value: sent.values(for: HTTPHeaderName(rawValue: name)),
                    is: [value]
                )
            }
        },
        TransportRequirement("addsNoHeaders", description: "It adds no Content-Type and no Authorization") {
            transport in
            let server = try TestServer(response: .status(200))
            let source = ConformanceSource(bytes: Data("a=b".utf8), length: nil)
            for body in [TransportRequest.Body.none, .data(Data("a=b".utf8)), .stream(source)] {
                try await TestCall(method: "POST", body: body).send(to: server, with: transport)
                let sent = server.requests.last?.headers
                try expect("Content-Type", value: sent?["Content-Type"], is: nil)
                try expect("Authorization", value: sent?["Authorization"], is: nil)
            }
        },
        TransportRequirement("omitsUserInfo", description: "It doesn't send the user and password of a URL") {
            transport in
            let server = try TestServer(response: .status(200))
            guard let base = URL(string: "http://user:secret@127.0.0.1:\(server.port)") else { return }
            _ = try await transport.send(TestCall(path: "/a@b").request(to: base))
            let sent = try await server.request(at: 0)
            try expect("Authorization", value: sent.headers["Authorization"], is: nil)
            try expect("the target", value: sent.target, is: "/a@b")
        },
        TransportRequirement("ignoresURLRequestBody", description: "It ignores the body and timeout of the URLRequest")
        {
            transport in
            let server = try TestServer { _ in [.wait(for: .milliseconds(1_200)), .text("HTTP/1.1 204 No\r\n\r\n")] }
            var request = try TestCall(method: "POST").request(to: server.baseURL)
            request.urlRequest.httpBody = Data("not this".utf8)
            request.urlRequest.timeoutInterval = 1
            _ = try await transport.send(request)
            try expect("the body", value: try await server.request(at: 0).text, is: "")
        },
        TransportRequirement(
            "refusesOtherSchemes",
            description: "It rejects URLs without a host, and with schemes other than http and https"
        ) {
            transport in
            for text in ["file:///etc/hostname", "ftp://127.0.0.1/", "data:,x", "http:///path"] {
                guard let url = URL(string: text) else { continue }
                let error = try await TestCall(path: "").error(at: url, with: transport)
                try expect(error is URLError, text: "for \(text) the error was \(error), expected a URLError")
            }
        },
        TransportRequirement("refusesLineBreaks", description: "It sends no line break in a header field or method") {
            transport in
            let server = try TestServer(response: .status(200))
            for headers in [["X-A": "1\r\nX-B: 2"], ["X-A\r\nX-B": "2"], ["X-A": "1\nX-B: 2"]] {
                _ = try? await TestCall(headers: headers).send(to: server, with: transport)
            }
            _ = try? await TestCall(method: "GET / HTTP/1.1\r\nX-B: 2\r\nX-C").send(to: server, with: transport)
            for sent in server.requests { try expect("the injected field", value: sent.headers["X-B"], is: nil) }
        },
    ]

    static let bodies: [TransportRequirement] = [
        TransportRequirement(
            "sendsNoLengthWithoutBody",
            description: "It sends no Content-Length and no Transfer-Encoding with a GET without a body"
        ) {
            transport in
            let server = try TestServer(response: .status(200))
            try await TestCall().send(to: server, with: transport)
            let sent = try await server.request(at: 0).headers
            try expect("Content-Length", value: sent["Content-Length"], is: nil)
            try expect("Transfer-Encoding", value: sent["Transfer-Encoding"], is: nil)
        },
        TransportRequirement(
            "sendsZeroLength",
            description: "It sends Content-Length: 0 with a POST, PUT or PATCH without a body or with an empty one"
        ) {
            transport in
            let server = try TestServer(response: .status(200))
            for method in ["POST", "PUT", "PATCH"] {
                for body in [TransportRequest.Body.none, .data(Data())] {
                    try await TestCall(method: method, body: body).send(to: server, with: transport)
                    let sent = server.requests.last
                    try expect("Content-Length of \(method)", value: sent?.headers["Content-Length"], is: "0")
                    try expect("Transfer-Encoding of \(method)", value: sent?.headers["Transfer-Encoding"], is: nil)
                }
            }
        },
        TransportRequirement("sendsDataBody", description: "It sends a body in memory completely, with its length") {
            transport in
            for size in [1, 5_000, 100_000, 3 << 20] {
                let bytes = noise(size)
                try await expectArrival(.data(bytes), of: bytes, length: size, with: transport)
            }
        },
        TransportRequirement("sendsFileBody", description: "It sends a body in a file completely, with its length") {
            transport in
            for size in [0, 1, 100_000, 3 << 20] {
                let file = try ConformanceFile(noise(size))
                try await expectArrival(.file(file.url), of: noise(size), length: size, with: transport)
            }
        },
        TransportRequirement(
            "sendsSourceBody",
            description: "It sends a body from a source completely, with or without a known length"
        ) { transport in
            for size in [0, 1, 100_000, 3 << 20] {
                for length in [Int64(size), nil] {
                    let source = ConformanceSource(bytes: noise(size), length: length)
                    try await expectArrival(.stream(source), of: noise(size), length: nil, with: transport)
                }
            }
        },
        TransportRequirement("throwsSourceError", description: "It throws the error of a body's source") { transport in
            let server = try TestServer(response: .status(200))
            for failsAfter in [0, 50_000] {
                let source = ConformanceSource(bytes: noise(100_000), length: 100_000, failsAfter: failsAfter)
                let call = TestCall(method: "PUT", body: .stream(source))
                let error = try await call.error(at: server.baseURL, with: transport)
                try expect(error is ConformanceSource.Failure, text: "the error was \(error), expected the source's")
                try expect("the number of complete requests", value: server.requestCount, is: 0)
            }
            try await TestCall().expectNextCallWorks(transport)
        },
        TransportRequirement("missingBodyFile", description: "A missing body file is a URLError") { transport in
            let server = try TestServer(response: .status(200))
            let missing = FileManager.default.temporaryDirectory.appendingPathComponent("missing-\(UUID().uuidString)")
            let call = TestCall(method: "PUT", body: .file(missing))
            let error = try await call.error(at: server.baseURL, with: transport)
            try expect(error is URLError, text: "the error was \(error), expected a URLError")
            try expect("the number of complete requests", value: server.requestCount, is: 0)
            try await call.expectNextCallWorks(transport)
        },
        TransportRequirement(
            "closedReusedConnection",
            description: "On a reused connection that was closed, it sends a body completely or fails"
        ) {
            transport in
            let server = try TestServer(response: .status(200))
            try await expectWholeOrLost(at: server, with: transport) { server.closeConnections() }
        },
        TransportRequirement(
            "closedDuringReusedRequest",
            description: "On a reused connection that is closed during a request, it sends the body completely or fails"
        ) {
            transport in
            let server = try TestServer { $0.number == 1 ? .close : .status(200) }
            try await expectWholeOrLost(at: server, with: transport) {}
        },
    ]

    private static func expectArrival(
        _ body: TransportRequest.Body,
        of bytes: Data,
        length: Int?,
        with transport: any Transport
    ) async throws {
        let server = try TestServer(response: .text("done"))
        let response = try await TestCall(method: "PUT", body: body).send(to: server, with: transport)
        try expect("the response", value: response.text, is: "done")
        let sent = try await server.request(at: 0)
        try expect("the number of bytes", value: sent.body.count, is: bytes.count)
        try expect(sent.body == bytes, text: "other bytes arrived than were sent")
        if let length { try expect("Content-Length", value: sent.headers["Content-Length"], is: "\(length)") }
    }

    /// Sends bodies of each kind, each on a reused connection.
    private static func expectWholeOrLost(
        at server: TestServer,
        with transport: any Transport,
        beforeBody: () -> Void
    ) async throws {
        let bytes = noise(50_000)
        let file = try ConformanceFile(bytes)
        let source = ConformanceSource(bytes: bytes, length: nil)
        for body in [TransportRequest.Body.data(bytes), .file(file.url), .stream(source)] {
            try await TestCall().send(to: server, with: transport)
            beforeBody()
            do {
                try await TestCall(method: "POST", body: body).send(to: server, with: transport)
                let arrived = server.requests.last?.body
                try expect(arrived == bytes, text: "\(arrived?.count ?? 0) bytes of the body arrived with a 200")
            } catch let error as URLError {
                try expect(error, isOneOf: [.networkConnectionLost])
            }
        }
    }
}
