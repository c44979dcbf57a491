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
            client.recv(1, socket.MSG_PEEK)
            print("sent", flush=True)
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
    private let output: FileHandle

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
        output = pipe.fileHandleForReading
        guard let number = Int(await Self.line(of: output)) else { throw URLError(.cannotConnectToHost) }
        self.port = number
    }

    /// Waits until a client has sent something after its handshake.
    func waitForBytes() async {
        _ = await Self.line(of: output)
    }

    private static func line(of output: FileHandle) async -> String {
        let line = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: output.availableData) }
        }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    var feed: Feed { Feed(baseURL: URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/")) }

    /// Ends it as `kill -9` does.
    func kill() {
        _ = Foundation.kill(process.id, SIGKILL)
        _ = process.wait()
    }
}

/// The sockets of this process that are open.
enum OpenSockets {
    /// The names of all of them, for example `socket:[1234]`. A name is not used again.
    static func names() throws -> Set<String> { Set(try all().values) }

    /// The names of those whose other end has a port. One that has lost its connection isn't among them.
    static func names(to port: Int) throws -> Set<String> {
        Set(try all().filter { peerPort(of: $0.key) == port }.values)
    }

    /// Waits until all of them are closed. The transport closes a connection soon after its last user is told.
    static func waitUntilClosed(_ closing: Set<String>) async throws {
        while try !names().isDisjoint(with: closing) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private static func all() throws -> [Int32: String] {
        var names: [Int32: String] = [:]
        for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            // Other tests close theirs meanwhile.
            let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            if let descriptor = Int32(number), let name, name.hasPrefix("socket:") { names[descriptor] = name }
        }
        return names
    }

    private static func peerPort(of descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard status == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
#endif
