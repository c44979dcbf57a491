// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    /// The requirements of streamed bodies.
    package static let streaming = streams + streamEndings + backPressure

    /// A content type with which Foundation doesn't buffer the first bytes to detect the type.
    private static let json: HTTPHeaders = ["Content-Type": "application/json"]
    private static let chunked: HTTPHeaders = [
        "Content-Type": "application/json", "Transfer-Encoding": "chunked",
    ]

    private static let streams: [TransportRequirement] = [
        TransportRequirement(
            "streamsImmediately",
            description: "It returns the head immediately, and streams the body as it arrives"
        ) { transport in
            let (isHeadThere, isPieceThere) = (Gate(), Gate())
            let server = try TestServer(response: [
                .head(status: 201, headers: chunked), .pause(until: isHeadThere), .chunk(noise(700)),
                .pause(until: isPieceThere), .chunk(noise(300)), .endChunks,
            ])
            let (head, body) = try await TestCall(buffer: 1 << 16).open(at: server, with: transport)
            try expect("the status", value: head.statusCode, is: 201)
            try expect("Content-Type", value: head.headers["content-type"], is: "application/json")
            isHeadThere.open()
            var iterator = body.makeAsyncIterator()
            var read = Data()
            while read.count < 700, let piece = try await iterator.next() { read.append(piece) }
            isPieceThere.open()
            while let piece = try await iterator.next() { read.append(piece) }
            try expect(
                read == noise(700) + noise(300),
                text: "\(read.count) bytes arrived, which differ from the 1000 sent"
            )
            try expect("a chunk after the end", value: try await iterator.next(), is: nil)
        },
        TransportRequirement(
            "streamsEveryByte",
            description: "It streams every byte, with any buffer size, in nonempty chunks"
        ) {
            transport in
            for (size, buffer) in [(0, 10), (1, 0), (1_000, 1), (3 << 20, 1), (3 << 20, 4 << 20)] {
                let reply = TestServer.Response(headers: json, body: noise(size))
                let (_, body) = try await TestCall(buffer: buffer).open(
                    at: TestServer(response: reply),
                    with: transport
                )
                var read = Data()
                for try await piece in body {
                    try expect(!piece.isEmpty, text: "a chunk was empty")
                    read.append(piece)
                }
                try expect(read == noise(size), text: "\(read.count) bytes arrived, which differ from the \(size) sent")
            }
        },
        TransportRequirement("streamsEmptyBody", description: "An empty streamed body ends immediately") { transport in
            let server = try TestServer { request in
                switch request.path {
                case "/204": [.head(status: 204)]
                case "/304": [.head(status: 304, headers: ["Content-Length": "12"])]
                case "/chunked": [.head(status: 200, headers: chunked), .endChunks]
                default: .text("not for HEAD")
                }
            }
            for (method, path) in [("HEAD", "/"), ("GET", "/204"), ("GET", "/304"), ("GET", "/chunked")] {
                let call = TestCall(path: path, method: method, buffer: 10)
                let (_, body) = try await call.open(at: server, with: transport)
                try expect("the body after \(method) \(path)", value: try await body.bytes, is: Data())
            }
        },
        TransportRequirement(
            "streamsRedirect",
            description: "It streams the body of a redirect, and doesn't follow it"
        ) {
            transport in
            for status in [301, 302, 303, 307, 308] {
                let server = try TestServer { request in
                    request.path == "/target"
                        ? .text("followed") : .text("moved", status: status, headers: ["Location": "/target"])
                }
                let (head, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
                try expect("the status", value: head.statusCode, is: status)
                try expect("Location", value: head.headers["Location"], is: "/target")
                try expect("the body", value: try await body.bytes, is: Data("moved".utf8))
                try expect("the number of requests", value: server.requestCount, is: 1)
            }
        },
        TransportRequirement("streamsUnauthorized", description: "It streams the body of a 401") { transport in
            for scheme in ["Basic realm=\"x\"", "Bearer realm=\"x\"", "Basic"] {
                let reply = TestServer.Response.text("who?", status: 401, headers: ["WWW-Authenticate": scheme])
                let (head, body) = try await TestCall(buffer: 1).open(at: TestServer(response: reply), with: transport)
                try expect("the status", value: head.statusCode, is: 401)
                try expect("the body", value: try await body.bytes, is: Data("who?".utf8))
            }
        },
        TransportRequirement(
            "streamsConcurrently",
            description: "It streams each of many concurrent calls its own body"
        ) {
            transport in
            let server = try TestServer { request in
                .text(String(repeating: request.text, count: 50_000), headers: ["Content-Type": "application/json"])
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 10..<42 {
                    group.addTask {
                        let text = Data("\(number)".utf8)
                        let call = TestCall(method: "POST", body: .data(text), buffer: 10_000)
                        let body = try await call.open(at: server, with: transport).1
                        let bytes = try await body.bytes
                        let expected = String(repeating: "\(number)", count: 50_000)
                        try expect(bytes == Data(expected.utf8), text: "the body of call \(number) is a different one")
                    }
                }
                try await group.waitForAll()
            }
        },
        TransportRequirement("reportsStreamProgress", description: "The progress of a streamed body reaches its size") {
            transport in
            let size: Int64 = 1 << 20
            let server = try TestServer(response: .download(byteCount: size, repeating: noise(1_000), headers: json))
            let isOver = Gate()
            let progress = { @Sendable (progress: TransferProgress) in
                let end = TransferProgress(completed: size, total: size, direction: .download)
                if progress == end { isOver.open() }
            }
            let call = TestCall(destination: .stream(buffer: 1 << 16), progress: progress)
            let count = try await call.open(at: server, with: transport).1.bytes.count
            try expect("the number of bytes", value: Int64(count), is: size)
            await isOver.wait()
        },
    ]

    /// The requirements of back pressure, with which a slow reader slows down the server.
    package static let backPressure: [TransportRequirement] = [
        TransportRequirement(
            "appliesBackPressure",
            description: "A slow reader makes the server wait, and receives every byte"
        ) {
            transport in
            for buffer in [1, 64 << 10, 1 << 20] {
                let size: Int64 = 64 << 20
                let piece = noise(65_537)
                let server = try TestServer(response: .download(byteCount: size, repeating: piece, headers: json))
                let (_, body) = try await TestCall(buffer: buffer).open(at: server, with: transport)
                var digest = BodyDigest()
                for try await piece in body {
                    digest.update(piece)
                    // Includes the kernel's buffers on both sides, up to 32 and 4 MiB on Linux, and the transport's.
                    let ahead = Int64(server.bytesSent) - digest.byteCount
                    try expect(ahead < 40 << 20, text: "the server was \(ahead) bytes ahead of the reader")
                }
                var expected = BodyDigest()
                while expected.byteCount < size { expected.update(piece.prefix(Int(size - expected.byteCount))) }
                try expect(
                    digest == expected,
                    text: "\(digest.byteCount) bytes arrived, which differ from the \(size) sent"
                )
            }
        }
    ]
}

extension TestCall {
    /// A call with a streamed body.
    package init(
        path: String = "/",
        method: String = "GET",
        body: TransportRequest.Body = .none,
        buffer: Int,
        timeout: Duration? = nil
    ) {
        self.init(path: path, method: method, body: body, destination: .stream(buffer: buffer), timeout: timeout)
    }

    /// Makes the call, which returns when the head has arrived.
    package func open(
        at server: TestServer,
        with transport: any Transport
    ) async throws -> (ResponseHead, ResponseBody) {
        let response = try await send(to: server, with: transport)
        return (response.head, try response.stream)
    }
}

extension TransportResponse {
    /// The body of a response that is a stream.
    var stream: ResponseBody {
        get throws {
            if case .stream(let body) = body { return body }
            throw ExpectationFailure("the body isn't a stream")
        }
    }
}

extension ResponseBody {
    /// All remaining bytes.
    package var bytes: Data {
        get async throws {
            var bytes = Data()
            for try await piece in self { bytes.append(piece) }
            return bytes
        }
    }
}
