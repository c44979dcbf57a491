// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TargetKitTesting

/// `openssl s_server`, or another program, on a free port, with generated certificates. Releasing the instance stops
/// it.
package final class TLSServer: Sendable {
    package static let program = URL(fileURLWithPath: "/usr/bin/openssl")
    package static var isAvailable: Bool { FileManager.default.isExecutableFile(atPath: program.path) }

    package let folder: TemporaryFolder
    package let port: Int
    private let child: ChildProcess
    private let output: FileHandle
    /// A socket, because writing to a pipe whose reader has ended raises `SIGPIPE`, which would end the tests.
    private let input: FileHandle

    package var baseURL: URL { URL(string: "https://localhost:\(port)") ?? URL(fileURLWithPath: "/") }
    package var authority: URL { file("ca.pem") }

    /// Starts OpenSSL's server, which responds to each request with a page about its connection.
    package convenience init(days: Int = 2, arguments: [String] = ["-www"], name: String = "localhost") throws {
        let certificates = ["-cert", "server.pem", "-key", "server.key", "-CAfile", "ca.pem"]
        let folder = try Self.certificates(days: days, name: name)
        let program = [Self.program.path, "s_server", "-accept", "127.0.0.1:0"]
        try self.init(program + certificates + arguments, in: folder)
    }

    /// A folder with an authority, and with certificates that it has issued for a server and a client.
    package static func certificates(days: Int = 2, name: String = "localhost") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try makeCertificates(in: folder.url, name: name, days: days)
        return folder
    }

    /// Starts a program in a folder with certificates. The program has to print `ACCEPT` and its address.
    package init(_ command: [String], in folder: TemporaryFolder) throws {
        self.folder = folder
        let pipe = Pipe()
        let (input, childInput) = try Self.connectedSockets()
        // When the tests are killed, nothing else would end the server. No time limit of its tests is longer.
        child = try ChildProcess(
            "/usr/bin/timeout",
            ["--signal=KILL", "600"] + command,
            in: folder.url,
            input: .descriptor(childInput.fileDescriptor),
            output: .descriptor(pipe.fileHandleForWriting.fileDescriptor)
        )
        try? pipe.fileHandleForWriting.close()
        try? childInput.close()
        output = pipe.fileHandleForReading
        self.input = input
        let line = Self.read(output, through: ["ACCEPT"]).split(separator: "\n").last { $0.hasPrefix("ACCEPT") }
        guard let port = line?.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw CocoaError(.fileReadUnknown)
        }
        self.port = port
    }

    // `timeout` leads a group of its own.
    deinit {
        kill(-child.id, SIGKILL)
        kill(child.id, SIGKILL)
        _ = child.wait()
    }

    package func file(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    /// The digest of the server's public key, as a pin has it.
    package func pin() throws -> String {
        try Self.shell(
            "openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform DER"
                + " | openssl dgst -sha256 -binary | openssl base64",
            in: folder.url
        ).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The server's output since the last query, up to the line with one of the prefixes.
    package func output(through starts: String...) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // The server has to live so long.
                let text = withExtendedLifetime(self) { Self.read(self.output, through: starts) }
                continuation.resume(returning: text)
            }
        }
    }

    /// Sends the bytes, unless the server has ended.
    package func send(_ bytes: Data) {
        Self.send(bytes, to: input)
    }

    /// Sends the bytes when the client has sent the text, and discards further data from the client.
    package func answer(_ bytes: Data, to text: String) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [input, output] in
                var received = Data()
                while received.range(of: Data(text.utf8)) == nil {
                    let piece = output.availableData
                    if piece.isEmpty { break }
                    received.append(piece)
                }
                Self.send(bytes, to: input)
                continuation.resume()
                // A server whose output is not read blocks.
                while !output.availableData.isEmpty {}
            }
        }
    }

    private static func send(_ bytes: Data, to socket: FileHandle) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Socket.send(socket.fileDescriptor, bytes: $0) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Two sockets that are connected to each other, and are closed in child processes.
    private static func connectedSockets() throws -> (FileHandle, FileHandle) {
        let descriptors = try Socket.pair()
        return (
            FileHandle(fileDescriptor: descriptors.0, closeOnDealloc: true),
            FileHandle(fileDescriptor: descriptors.1, closeOnDealloc: true)
        )
    }

    private static func read(_ handle: FileHandle, through starts: [String]) -> String {
        var text = ""
        while !text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).contains(where: { line in
            starts.contains { line.hasPrefix($0) }
        }) {
            let data = handle.availableData
            if data.isEmpty { break }
            // Swift takes CR LF for one character, which is no line's end to `split`.
            text += String(decoding: data.filter { $0 != 0x0D }, as: UTF8.self)
        }
        return text
    }

    private static func makeCertificates(in folder: URL, name: String, days: Int) throws {
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        let sign = "-CA ca.pem -CAkey ca.key -CAcreateserial"
        _ = try shell(
            """
            set -e
            openssl req -x509 \(key) -keyout ca.key -out ca.pem -days 2 -subj /CN=TestAuthority
            openssl req \(key) -keyout server.key -out server.csr -subj /CN=server
            printf 'subjectAltName=DNS:\(name)' > names
            openssl x509 -req -in server.csr \(sign) -out server.pem -days \(days) -extfile names
            openssl req \(key) -keyout client.key -out client.csr -subj /CN=client
            openssl x509 -req -in client.csr \(sign) -out client.pem -days 2
            """,
            in: folder
        )
    }

    private static func shell(_ script: String, in folder: URL) throws -> String {
        let (status, output, _) = try ChildProcess.run("/bin/sh", ["-c", script], in: folder)
        guard status == 0 else { throw CocoaError(.fileWriteUnknown) }
        return String(decoding: output, as: UTF8.self)
    }
}
#endif
