// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension TransportConformance {
    /// What is promised of a body that goes to a reader, however slow or fast.
    public static let streaming = streams + streamEndings + holdingBack

    /// Content that nothing has to be guessed about, so that nothing is kept back to do so.
    private static let json: HTTPHeaders = ["Content-Type": "application/json"]
    private static let chunked: HTTPHeaders = [
        "Content-Type": "application/json", "Transfer-Encoding": "chunked",
    ]

    private static let streams: [TransportRequirement] = [
        TransportRequirement("It gives a reader the head at once, and the body as it comes") { transport in
            let (isHeadThere, isPieceThere) = (Gate(), Gate())
            let server = try TestServer(reply: [
                .head(status: 201, headers: chunked), .pause(until: isHeadThere), .chunk(noise(700)),
                .pause(until: isPieceThere), .chunk(noise(300)), .endChunks,
            ])
            let (head, body) = try await TestCall(buffer: 1 << 16).open(at: server, with: transport)
            try expect("the status", head.statusCode, is: 201)
            try expect("Content-Type", head.headers["content-type"], is: "application/json")
            isHeadThere.open()
            var iterator = body.makeAsyncIterator()
            var read = Data()
            while read.count < 700, let piece = try await iterator.next() { read.append(piece) }
            isPieceThere.open()
            while let piece = try await iterator.next() { read.append(piece) }
            try expect(read == noise(700) + noise(300), "\(read.count) bytes came, other than the 1000 sent")
            try expect("a piece after the end", try await iterator.next(), is: nil)
        },
        TransportRequirement("It gives a reader every byte, whatever the buffer, in pieces that are not empty") {
            transport in
            for (size, buffer) in [(0, 10), (1, 0), (1_000, 1), (3 << 20, 1), (3 << 20, 4 << 20)] {
                let reply = TestServer.Reply(headers: json, body: noise(size))
                let (_, body) = try await TestCall(buffer: buffer).open(
                    at: TestServer(reply: reply),
                    with: transport
                )
                var read = Data()
                for try await piece in body {
                    try expect(!piece.isEmpty, "a piece was empty")
                    read.append(piece)
                }
                try expect(read == noise(size), "\(read.count) bytes came, other than the \(size) sent")
            }
        },
        TransportRequirement("A body without bytes ends at once") { transport in
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
                try expect("the body after \(method) \(path)", try await body.bytes, is: Data())
            }
        },
        TransportRequirement("It gives a reader the body of a redirect, and does not follow it") { transport in
            for status in [301, 302, 303, 307, 308] {
                let server = try TestServer { request in
                    request.path == "/target"
                        ? .text("followed") : .text("moved", status: status, headers: ["Location": "/target"])
                }
                let (head, body) = try await TestCall(buffer: 1).open(at: server, with: transport)
                try expect("the status", head.statusCode, is: status)
                try expect("Location", head.headers["Location"], is: "/target")
                try expect("the body", try await body.bytes, is: Data("moved".utf8))
                try expect("the number of requests", server.requestCount, is: 1)
            }
        },
        TransportRequirement("It gives a reader the body of a 401") { transport in
            for scheme in ["Basic realm=\"x\"", "Bearer realm=\"x\"", "Basic"] {
                let reply = TestServer.Reply.text("who?", status: 401, headers: ["WWW-Authenticate": scheme])
                let (head, body) = try await TestCall(buffer: 1).open(at: TestServer(reply: reply), with: transport)
                try expect("the status", head.statusCode, is: 401)
                try expect("the body", try await body.bytes, is: Data("who?".utf8))
            }
        },
        TransportRequirement("It gives each of many readers at once its own body") { transport in
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
                        try expect(bytes == Data(expected.utf8), "the body of \(number) is another")
                    }
                }
                try await group.waitForAll()
            }
        },
        TransportRequirement("Progress of a body that is read ends with all its bytes") { transport in
            let size: Int64 = 1 << 20
            let server = try TestServer(reply: .download(byteCount: size, repeating: noise(1_000), headers: json))
            let isOver = Gate()
            let progress = { @Sendable (progress: TransferProgress) in
                let end = TransferProgress(completed: size, total: size, direction: .download)
                if progress == end { isOver.open() }
            }
            let call = TestCall(destination: .stream(buffer: 1 << 16), progress: progress)
            let count = try await call.open(at: server, with: transport).1.bytes.count
            try expect("the bytes", Int64(count), is: size)
            await isOver.wait()
        },
    ]

    /// What nobody can requirement who cannot make a server wait.
    public static let holdingBack: [TransportRequirement] = [
        TransportRequirement("A slow reader holds up the server, and then reads on to the end") { transport in
            for buffer in [1, 64 << 10, 1 << 20] {
                let size: Int64 = 64 << 20
                let piece = noise(65_537)
                let server = try TestServer(reply: .download(byteCount: size, repeating: piece, headers: json))
                let (_, body) = try await TestCall(buffer: buffer).open(at: server, with: transport)
                var digest = BodyDigest()
                for try await piece in body {
                    digest.update(piece)
                    // What the kernel holds on both sides, and the buffer.
                    let ahead = Int64(server.bytesSent) - digest.byteCount
                    try expect(ahead < 16 << 20, "the server was \(ahead) bytes ahead of the reader")
                }
                var expected = BodyDigest()
                while expected.byteCount < size { expected.update(piece.prefix(Int(size - expected.byteCount))) }
                try expect(digest == expected, "\(digest.byteCount) bytes came, other than the \(size) sent")
            }
        }
    ]
}

extension TestCall {
    /// A call whose body goes to a reader.
    package init(
        path: String = "/",
        method: String = "GET",
        body: TransportRequest.Body = .none,
        buffer: Int,
        timeout: Duration? = nil
    ) {
        self.init(path: path, method: method, body: body, destination: .stream(buffer: buffer), timeout: timeout)
    }

    /// Makes the call, which returns at the end of the head.
    package func open(
        at server: TestServer,
        with transport: any Transport
    ) async throws -> (ResponseHead, ResponseBody) {
        let response = try await send(to: server, with: transport)
        guard case .stream(let body) = response.body else { throw UnmetRequirement("the body is no stream") }
        return (response.head, body)
    }
}

extension ResponseBody {
    /// Every byte that is left.
    package var bytes: Data {
        get async throws {
            var bytes = Data()
            for try await piece in self { bytes.append(piece) }
            return bytes
        }
    }
}
