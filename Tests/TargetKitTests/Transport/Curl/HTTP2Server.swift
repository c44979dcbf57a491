// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
@testable import TargetKit
import TestSupport

/// A TLS server in Python that supports HTTP/2, and HTTP/1.1 for clients that ask for it. Releasing the instance stops
/// it.
final class HTTP2Server: Sendable {
    /// How the server responds to a request.
    enum Behaviour: String {
        /// A 200 with four bytes.
        case answer
        /// A 200 with four bytes, then GOAWAY with its stream as the last one.
        case answerAndGoAway = "answer+goaway"
        /// RST_STREAM with REFUSED_STREAM.
        case refuse
        /// GOAWAY with the stream before it as the last one.
        case goAway = "goaway"
        /// GOAWAY with the stream before it as the last one, then closes the connection.
        case goAwayAndClose = "goaway+close"
        /// Closes the connection.
        case close
        /// GOAWAY with its stream as the last one, then closes the connection without a response.
        case acceptAndClose = "accept+close"
        /// No response.
        case hang
        /// As soon as the head has arrived, a 200 with four bytes. The rest of the request gets no window until the
        /// client has read the response.
        case early
        /// ``early``, with a declared length.
        case earlyWithLength = "early+length"
        /// ``early``, then RST_STREAM with NO_ERROR when the whole request has arrived.
        case earlyAndReset = "early+reset"
    }

    static let program = URL(fileURLWithPath: "/usr/bin/env")
    static let isAvailable: Bool = {
        guard TLSServer.isAvailable else { return false }
        return (try? ChildProcess.run(program.path, ["python3", "-c", "import ssl"]).status) == 0
    }()

    private let server: TLSServer

    var baseURL: URL { server.baseURL }

    /// A transport that trusts the server.
    func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) -> CurlTransport {
        var configuration = CurlTransport.Configuration.patient
        configuration.tls.trust = .authoritiesFile(server.authority)
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }

    /// Starts a server that allows the given number of streams per connection, and handles each request by the next
    /// behavior of the list; the last one repeats.
    ///
    /// - Parameter requestsPerConnection: The number of requests after which a connection gets GOAWAY. The streams
    ///   above are ignored, and the connection closes after the last response; `nil` for any number.
    init(
        _ behaviours: [Behaviour] = [.answer],
        streams: Int = 1000,
        requestsPerConnection: Int? = nil,
        protocols: String = "h2,http/1.1"
    ) throws {
        let list = behaviours.map(\.rawValue).joined(separator: ",")
        let limit = "\(requestsPerConnection ?? 0)"
        let command = [Self.program.path, "python3", "server.py", protocols, "\(streams)", list, limit]
        server = try TLSServer(command, in: Self.folder.get())
    }

    /// The certificates and the program, which all servers share.
    private static let folder = Result {
        let folder = try TLSServer.certificates()
        _ = try folder.file("server.py", Data(script.utf8))
        return folder
    }

    /// The server's log since the last query, up to the line with the prefix, or `CLOSED`: `CONNECTION` with its
    /// protocol and `new` or `resumed`, `HEADERS` or `RESET` with a stream's number, `PROCESSED` with a request's short
    /// body, `REQUEST` over HTTP/1.1, `CLOSED`.
    func events(through start: String) async -> [String] {
        await server.output(through: start, "CLOSED").split(separator: "\n").map(String.init)
    }

    /// The bodies of the log's `PROCESSED` lines since the last query, through the given one.
    func processed(through last: String) async -> [String] {
        var text = ""
        repeat { text += await server.output(through: "PROCESSED") } while !text.contains("PROCESSED \(last)\n")
        return text.split(separator: "\n").filter { $0.hasPrefix("PROCESSED ") }.map { String($0.dropFirst(10)) }
    }

    private static let script = #"""
        import socket, ssl, struct, sys, threading

        alpn, streams, behaviours = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3].split(",")
        limit = int(sys.argv[4])
        lock, requests = threading.Lock(), 0

        def say(text):
            with lock:
                print(text, flush=True)

        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

        def next_behaviour():
            global requests
            with lock:
                requests += 1
                return behaviours[min(requests, len(behaviours)) - 1]

        def respond(connection, stream, behaviour):
            if behaviour.startswith("answer"):
                connection.sendall(frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"fine"))
            if behaviour in ("answer+goaway", "accept+close"):
                connection.sendall(frame(7, 0, 0, struct.pack(">II", stream, 0)))
            if behaviour == "refuse":
                connection.sendall(frame(3, 0, stream, struct.pack(">I", 7)))
            if behaviour == "early+reset":
                connection.sendall(frame(3, 0, stream, struct.pack(">I", 0)))
            if behaviour.startswith("goaway"):
                connection.sendall(frame(7, 0, 0, struct.pack(">II", max(0, stream - 2), 0)))
            if behaviour.endswith("close"):
                connection.shutdown(socket.SHUT_RDWR)

        def respond_early(connection, stream, behaviour):
            length = b"\x0f\x0d\x014" if behaviour == "early+length" else b""
            connection.sendall(frame(1, 4, stream, b"\x88" + length) + frame(0, 1, stream, b"fine"))

        def finish(connection):
            # Closed at once, with data unread, the connection would be reset, and what was sent before could be lost.
            try:
                connection.unwrap()
            except (OSError, ValueError):
                pass
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
            raise EOFError

        def http2(connection, read):
            read(24)
            connection.sendall(frame(4, 0, 0, struct.pack(">HI", 3, streams)))
            open_streams, bodies, last = {}, {}, None
            accepted = 0
            while True:
                head = read(9)
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                payload = read(int.from_bytes(head[:3], "big"))
                if kind == 4 and not flags & 1:
                    connection.sendall(frame(4, 1, 0))
                if kind == 6 and not flags & 1:
                    connection.sendall(frame(6, 1, 0, payload))
                if kind == 6 and flags & 1:
                    # The client has read the response.
                    window = struct.pack(">I", 1 << 20)
                    connection.sendall(frame(8, 0, 0, window) + frame(8, 0, int.from_bytes(payload, "big"), window))
                if kind == 3:
                    say(f"RESET {stream}")
                if last is not None and stream > last:
                    continue
                if kind == 1:
                    accepted += 1
                    say(f"HEADERS {stream}")
                    open_streams[stream], bodies[stream] = next_behaviour(), b""
                    if accepted == limit:
                        last = stream
                        connection.sendall(frame(7, 0, 0, struct.pack(">II", last, 0)))
                    if open_streams[stream].startswith("early"):
                        respond_early(connection, stream, open_streams[stream])
                if kind == 0 and stream in bodies:
                    bodies[stream] += payload
                    if open_streams[stream].startswith("early") and len(bodies[stream]) == 65535:
                        connection.sendall(frame(6, 0, 0, struct.pack(">Q", stream)))
                if kind in (0, 1) and flags & 1 and stream in open_streams:
                    body = bodies.pop(stream)
                    if 0 < len(body) < 100:
                        say(f"PROCESSED {body.decode()}")
                    respond(connection, stream, open_streams.pop(stream))
                if last is not None and not open_streams:
                    finish(connection)

        def http1(connection, read):
            while True:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += read(1)
                say("REQUEST")
                if b" /held " in head:
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nheld")
                    read(1)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
                if b"connection: close" in head.lower():
                    raise EOFError

        def serve(plain):
            try:
                connection = context.wrap_socket(plain, server_side=True)
                name = connection.selected_alpn_protocol()
                say(f"CONNECTION {name} {'resumed' if connection.session_reused else 'new'}")
                buffer = bytearray()

                def read(count):
                    while len(buffer) < count:
                        piece = connection.recv(65536)
                        if not piece:
                            raise EOFError
                        buffer.extend(piece)
                    taken = bytes(buffer[:count])
                    del buffer[:count]
                    return taken

                (http2 if name == "h2" else http1)(connection, read)
            except (OSError, EOFError):
                say("CLOSED")
                plain.close()

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("server.pem", "server.key")
        context.set_alpn_protocols(alpn)
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        say(f"ACCEPT 127.0.0.1:{listener.getsockname()[1]}")
        while True:
            plain = listener.accept()[0]
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(plain,), daemon=True).start()
        """#
}
#endif
