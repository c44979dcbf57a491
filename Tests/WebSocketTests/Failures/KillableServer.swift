// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit
import TestSupport

/// A server of WebSockets in a process of its own, which sends "hello" to each client and reads nothing.
struct KillableServer {
    private static let program = #"""
        import base64, hashlib, socket, sys, threading

        def serve(client):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(65536)
            keys = [line.split(b": ", 1)[1] for line in head.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")]
            digest = hashlib.sha1(keys[0] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
            client.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n\x81\x05hello")
            threading.Event().wait()

        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(sys.argv[1])))
        listener.listen()
        print(listener.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """#

    /// Whether there is a Python for it.
    static let isAvailable = (try? ChildProcess.run("/usr/bin/env", ["python3", "-c", ""]).status) == 0

    let port: Int
    private let process: ChildProcess

    /// Starts it.
    ///
    /// - Parameter port: Where it listens; 0: on a free port.
    init(port: Int = 0) async throws {
        let pipe = Pipe()
        process = try ChildProcess(
            "/usr/bin/env",
            ["python3", "-c", Self.program, "\(port)"],
            output: .descriptor(pipe.fileHandleForWriting.fileDescriptor)
        )
        try pipe.fileHandleForWriting.close()
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: pipe.fileHandleForReading.availableData) }
        }
        guard let number = Int(String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw URLError(.cannotConnectToHost) }
        self.port = number
    }

    var feed: Feed { Feed(baseURL: URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/")) }

    /// Ends it as `kill -9` does.
    func kill() {
        _ = Foundation.kill(process.id, SIGKILL)
        _ = process.wait()
    }
}

/// The sockets of this network that are open.
enum OpenSockets {
    /// The number of open sockets whose other end has a port (proc(5), `/proc/net/tcp`).
    static func count(to port: Int) throws -> Int {
        let table = try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8)
        let ending = ":" + String(port, radix: 16, uppercase: true).leftPadded(to: 4)
        return table.split(separator: "\n")
            .filter { line in
                let fields = line.split(separator: " ")
                // A socket that only the system keeps, for example for TIME_WAIT, has no file.
                return fields.count > 9 && fields[2].hasSuffix(ending) && fields[9] != "0"
            }
            .count
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}
#endif
