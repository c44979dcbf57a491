// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKit
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
        /// No response.
        case hang
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
    init(_ behaviours: [Behaviour] = [.answer], streams: Int = 1000, protocols: String = "h2,http/1.1") throws {
        let list = behaviours.map(\.rawValue).joined(separator: ",")
        let command = [Self.program.path, "python3", "server.py", protocols, "\(streams)", list]
        server = try TLSServer(command, in: Self.folder.get())
    }

    /// The certificates and the program, which all servers share.
    private static let folder = Result {
        let folder = try TLSServer.certificates()
        _ = try folder.file("server.py", Data(script.utf8))
        return folder
    }

    /// The server's log since the last query, up to the line with the prefix, or `CLOSED`: `CONNECTION` with its
    /// protocol and `new` or `resumed`, `HEADERS` or `RESET` with a stream's number, `REQUEST` over HTTP/1.1, `CLOSED`.
    func events(through start: String) async -> [String] {
        await server.output(through: start, "CLOSED").split(separator: "\n").map(String.init)
    }

    private static let script = #"""
        import socket, ssl, struct, sys, threading

        alpn, streams, behaviours = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3].split(",")
        lock, requests = threading.Lock(), 0

        def say(text):
            with lock:
                print(text, flush=True)

        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

        def respond(connection, stream):
            global requests
            with lock:
                requests += 1
                behaviour = behaviours[min(requests, len(behaviours)) - 1]
            if behaviour.startswith("answer"):
                connection.sendall(frame(1, 4, stream, b"\x88") + frame(0, 1, stream, b"fine"))
            if behaviour == "answer+goaway":
                connection.sendall(frame(7, 0, 0, struct.pack(">II", stream, 0)))
            if behaviour == "refuse":
                connection.sendall(frame(3, 0, stream, struct.pack(">I", 7)))
            if behaviour.startswith("goaway"):
                connection.sendall(frame(7, 0, 0, struct.pack(">II", max(0, stream - 2), 0)))
            if behaviour.endswith("close"):
                connection.shutdown(socket.SHUT_RDWR)

        def http2(connection, read):
            read(24)
            connection.sendall(frame(4, 0, 0, struct.pack(">HI", 3, streams)))
            while True:
                head = read(9)
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
                payload = read(int.from_bytes(head[:3], "big"))
                if kind == 4 and not flags & 1:
                    connection.sendall(frame(4, 1, 0))
                if kind == 6 and not flags & 1:
                    connection.sendall(frame(6, 1, 0, payload))
                if kind == 1:
                    say(f"HEADERS {stream}")
                if kind in (0, 1) and flags & 1:
                    respond(connection, stream)
                if kind == 3:
                    say(f"RESET {stream}")

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
