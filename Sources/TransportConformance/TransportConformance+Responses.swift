// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let responses: [TransportRequirement] = [
        TransportRequirement("returnsResponse", description: "It returns status, header fields and body") { transport in
            let reply = TestServer.Response.text("teapot", status: 418, headers: ["X-One": "1", "x-two": "zwei"])
            let response = try await TestCall().send(to: TestServer(response: reply), with: transport)
            try expect("the status", value: response.head.statusCode, is: 418)
            try expect("X-One", value: response.head.headers["x-one"], is: "1")
            try expect("x-two", value: response.head.headers["X-Two"], is: "zwei")
            try expect("the body", value: response.text, is: "teapot")
        },
        TransportRequirement("returnsEveryStatus", description: "It returns each status from 200 to 599") { transport in
            let server = try TestServer { request in
                TestServer.Response(status: Int(request.path.dropFirst()) ?? 0, reason: "")
            }
            for status in [
                200, 201, 204, 206, 300, 304, 400, 403, 404, 407, 409, 413, 422, 429, 500, 502, 503, 504, 599,
            ] {
                let response = try await TestCall(path: "/\(status)").send(to: server, with: transport)
                try expect("the status", value: response.head.statusCode, is: status)
            }
        },
        TransportRequirement("returnsRepeatedFields", description: "It returns all values of a repeated header field") {
            transport in
            let reply = TestServer.Response.text("", headers: ["Vary": "a", "X-B": "1", "Vary": "b"])
            let response = try await TestCall().send(to: TestServer(response: reply), with: transport)
            try expect("Vary", value: response.head.headers["Vary"], is: "a, b")
        },
        TransportRequirement(
            "readsLatin1Fields",
            description: "It preserves the octets of a header field that isn't UTF-8"
        ) {
            transport in
            let head =
                Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Name: Andr".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A]
            let server = try TestServer(response: [.bytes(head)])
            let response = try await TestCall().send(to: server, with: transport)
            let name = HTTPHeaders.Field(name: "X-Name", octets: Array("Andr".utf8) + [0xE9])
            try expect("X-Name", value: response.head.headers["X-Name"], is: name.value)
        },
        TransportRequirement("readsChunkedBody", description: "It reads a chunked body in any segments") { transport in
            let bytes = noise(20_000)
            var steps: [TestServer.Step] = [.head(status: 200, headers: ["Transfer-Encoding": "chunked"])]
            for start in stride(from: 0, to: bytes.count, by: 777) {
                steps += [.chunk(bytes[start..<min(start + 777, bytes.count)]), .wait(for: .zero)]
            }
            let server = try TestServer(response: TestServer.Response(steps: steps + [.endChunks]))
            let response = try await TestCall().send(to: server, with: transport)
            try expect(
                response.bytes == bytes,
                text: "\(response.bytes.count) bytes were returned, which differ from the \(bytes.count) sent"
            )
        },
        TransportRequirement("readsUntilClose", description: "It reads a body that ends when the connection is closed")
        {
            transport in
            let server = try TestServer(response: .raw("HTTP/1.1 200 OK\r\n\r\nuntil the end"))
            let response = try await TestCall().send(to: server, with: transport)
            try expect("the body", value: response.text, is: "until the end")
        },
        TransportRequirement("readsLargeBody", description: "It reads a large body completely") { transport in
            let bytes = noise(8 << 20)
            let server = try TestServer(response: .download(byteCount: Int64(bytes.count), repeating: bytes))
            let response = try await TestCall().send(to: server, with: transport)
            try expect(
                response.bytes == bytes,
                text: "\(response.bytes.count) bytes were returned, which differ from the \(bytes.count) sent"
            )
        },
        TransportRequirement("expectsNoBody", description: "It expects no body after HEAD, 204 and 304") { transport in
            let server = try TestServer { request in
                request.path == "/304"
                    ? [.head(status: 304, headers: ["Content-Length": "12"])]
                    : request.path == "/204" ? [.head(status: 204)] : .text("not for HEAD")
            }
            for (method, path) in [("HEAD", "/"), ("GET", "/204"), ("GET", "/304"), ("HEAD", "/")] {
                let response = try await TestCall(path: path, method: method).send(to: server, with: transport)
                try expect("the body after \(method) \(path)", value: response.bytes.count, is: 0)
            }
        },
        TransportRequirement("skipsInterimResponses", description: "It waits for the final response after 100 and 103")
        {
            transport in
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-A: no\r\n\r\n"
            for method in ["GET", "POST"] {
                let server = try TestServer { _ in
                    TestServer.Response(
                        steps: [.text(interim), .wait(for: .zero)] + TestServer.Response.text("final").steps
                    )
                }
                let response = try await TestCall(method: method).send(to: server, with: transport)
                try expect("the status", value: response.head.statusCode, is: 200)
                try expect("the body", value: response.text, is: "final")
                try expect("the interim field", value: response.head.headers["X-A"], is: nil)
            }
        },
        TransportRequirement("decodesGzip", description: "It decodes gzip, and applies the limit to the decoded bytes")
        {
            transport in
            let zeros = try gzipOfZeros
            let reply = TestServer.Response(headers: ["Content-Encoding": "gzip"], body: zeros)
            let server = try TestServer(response: reply)
            let headers = ["Accept-Encoding": "gzip"]
            let response = try await TestCall(headers: headers).send(to: server, with: transport)
            try expect(
                response.bytes == Data(count: 200_000),
                text: "\(response.bytes.count) bytes were returned, expected 200000 zeros"
            )
            try await TestCall(headers: headers, destination: .memory(limit: 199_999))
                .expectFailure(.dataLengthExceedsMaximum, at: server, with: transport)
        },
        TransportRequirement(
            "limitsSize",
            description: "It accepts a body of the limit's size, and rejects a larger one"
        ) {
            transport in
            let server = try TestServer { request in
                request.path == "/chunked"
                    ? [
                        .head(status: 200, headers: ["Transfer-Encoding": "chunked"]), .chunk(noise(600)),
                        .wait(for: .zero),
                        .chunk(noise(400)), .endChunks,
                    ] : TestServer.Response(body: noise(1_000))
            }
            for path in ["/", "/chunked"] {
                let call = TestCall(path: path, destination: .memory(limit: 1_000))
                try expect(
                    "the number of bytes",
                    value: try await call.send(to: server, with: transport).bytes.count,
                    is: 1_000
                )
                try await TestCall(path: path, destination: .memory(limit: 999))
                    .expectFailure(.dataLengthExceedsMaximum, at: server, with: transport)
            }
        },
        TransportRequirement(
            "limitsSizeEarly",
            description: "It rejects a body over the limit before all of it has arrived"
        ) {
            transport in
            let server = try TestServer(response: [
                .head(status: 200, headers: ["Content-Length": "1000000"]), .body(noise(2_000)), .hang,
            ])
            try await TestCall(destination: .memory(limit: 1_000))
                .expectFailure(.dataLengthExceedsMaximum, at: server, with: transport)
        },
        TransportRequirement(
            "writesFile",
            description: "It writes the body to a file from its start, and keeps the permissions of an existing file"
        ) {
            transport in
            for size in [0, 10, 3 << 20] {
                let file = try ConformanceFile(Data("old bytes that are longer".utf8))
                chmod(file.url.path, 0o600)
                let server = try TestServer(response: TestServer.Response(body: noise(size)))
                let response = try await TestCall(destination: .file(file.url)).send(to: server, with: transport)
                guard case .file(let url) = response.body else { throw ExpectationFailure("the body isn't in a file") }
                try expect("the file", value: url.standardizedFileURL.path, is: file.url.standardizedFileURL.path)
                try expect(file.content == noise(size), text: "the file has other bytes than were sent")
                try expect("the files in the folder", value: file.neighbours, is: ["file"])
                let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
                try expect("the permissions", value: attributes[.posixPermissions] as? Int, is: 0o600)
            }
        },
        TransportRequirement("truncatedFile", description: "A truncated body for a file is an error") { transport in
            let file = try ConformanceFile()
            let server = try TestServer(response: [
                .head(status: 200, headers: ["Content-Length": "1000"]), .body(noise(500)), .close,
            ])
            try await TestCall(destination: .file(file.url))
                .expectFailure(.networkConnectionLost, at: server, with: transport)
        },
    ]

    static let oneExchange: [TransportRequirement] = [
        TransportRequirement("returnsRedirect", description: "It returns a redirect, and doesn't follow it") {
            transport in
            let server = try TestServer { request in
                guard request.path != "/target" else { return .text("followed") }
                let status = Int(request.path.dropFirst()) ?? 0
                return .text("moved", status: status, headers: ["Location": "/target"])
            }
            for status in [301, 302, 303, 307, 308] {
                for method in ["GET", "POST"] {
                    let call = TestCall(path: "/\(status)", method: method)
                    let response = try await call.send(to: server, with: transport)
                    try expect("the status", value: response.head.statusCode, is: status)
                    try expect("Location", value: response.head.headers["Location"], is: "/target")
                    try expect("the body", value: response.text, is: "moved")
                }
            }
            try expect("the number of requests", value: server.requestCount, is: 10)
        },
        TransportRequirement("returnsInvalidRedirect", description: "It returns a redirect with an invalid Location") {
            transport in
            for location in ["", "//", "::::", "http://", "/a b", "?", "http://127.0.0.1:99999/"] {
                let server = try TestServer(response: .redirect(to: location))
                let response = try await TestCall().send(to: server, with: transport)
                try expect("the status for '\(location)'", value: response.head.statusCode, is: 302)
            }
        },
        TransportRequirement(
            "returnsRedirectWithoutLocation",
            description: "It returns a redirect without a Location, with its body"
        ) { transport in
            for status in [300, 301, 302, 303, 307, 308] {
                let server = try TestServer(response: .text("where?", status: status))
                let response = try await TestCall().send(to: server, with: transport)
                try expect("the status", value: response.head.statusCode, is: status)
                try expect("the body", value: response.text, is: "where?")
            }
        },
        TransportRequirement(
            "returnsUnauthorized",
            description: "It returns a 401 with its body, and doesn't send the request again"
        ) { transport in
            for scheme in ["Basic realm=\"x\"", "Bearer realm=\"x\"", "Digest realm=\"x\", nonce=\"y\", qop=\"auth\""] {
                let reply = TestServer.Response.text("who?", status: 401, headers: ["WWW-Authenticate": scheme])
                let server = try TestServer(response: reply)
                let response = try await TestCall().send(to: server, with: transport)
                try expect("the status", value: response.head.statusCode, is: 401)
                try expect("WWW-Authenticate", value: response.head.headers["WWW-Authenticate"], is: scheme)
                try expect("the body", value: response.text, is: "who?")
                try expect("the number of requests", value: server.requestCount, is: 1)
            }
        },
        TransportRequirement("returnsUnauthorizedWithoutRealm", description: "It returns a 401 without a realm") {
            transport in
            for scheme in ["Bearer", "Basic", "Negotiate", ""] {
                let reply = TestServer.Response.text("who?", status: 401, headers: ["WWW-Authenticate": scheme])
                let response = try await TestCall().send(to: TestServer(response: reply), with: transport)
                try expect("the status", value: response.head.statusCode, is: 401)
                try expect("the body", value: response.text, is: "who?")
            }
        },
        TransportRequirement("storesNoCookies", description: "It stores no cookies") { transport in
            let server = try TestServer(response: .text("", headers: ["Set-Cookie": "id=1; Path=/; Max-Age=3600"]))
            for _ in 0..<2 { try await TestCall().send(to: server, with: transport) }
            try expect("Cookie", value: server.requests.map { $0.headers["Cookie"] }, is: [nil, nil])
        },
        TransportRequirement("cachesNothing", description: "It caches nothing") { transport in
            let server = try TestServer { request in
                .text("\(request.index)", headers: ["Cache-Control": "max-age=3600", "ETag": "\"1\""])
            }
            for index in 0..<3 {
                let response = try await TestCall().send(to: server, with: transport)
                try expect("the body", value: response.text, is: "\(index)")
            }
            try expect(
                "If-None-Match",
                value: server.requests.map { $0.headers["If-None-Match"] },
                is: [nil, nil, nil]
            )
        },
        TransportRequirement(
            "returnsConcurrentResponses",
            description: "It returns each of many concurrent calls its own response"
        ) { transport in
            let server = try TestServer { request in .text("answer to \(request.path) \(request.text)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let call = TestCall(
                            path: "/\(number)",
                            method: "POST",
                            body: .data(Data("\(number)".utf8))
                        )
                        let response = try await call.send(to: server, with: transport)
                        try expect("the body", value: response.text, is: "answer to /\(number) \(number)")
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    /// 200,000 zero bytes, compressed (RFC 1952).
    private static var gzipOfZeros: Data {
        get throws {
            let head = "H4sIAAAAAAACA+3BMQEAAADCoPVPbQZ/o"
            let tail = "CA1wB7WOBcQA0DAA=="
            guard let data = Data(base64Encoded: head + String(repeating: "A", count: 257) + tail) else {
                throw ExpectationFailure("the check's own gzip data is invalid")
            }
            return data
        }
    }
}
