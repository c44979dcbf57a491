// SPDX-License-Identifier: MIT
import Foundation
import Measuring

/// nginx with a configuration of the benchmarks, for as long as the report runs.
struct BenchmarkServer {
    /// The configurations.
    enum Kind: String {
        case plain = "nginx.conf"
        case tls = "nginx-tls.conf"

        /// The variable that names a running server, which is then used.
        fileprivate var variable: String {
            switch self {
            case .plain: "TARGETKIT_NGINX"
            case .tls: "TARGETKIT_NGINX_TLS_FOLDER"
            }
        }
    }

    let kind: Kind
    /// The variables for the processes of the benchmarks.
    private(set) var environment: [String: String] = [:]
    private var process: Process?
    private var folder: URL?

    /// Starts the server, unless there is one.
    init(_ kind: Kind) throws {
        self.kind = kind
        if ProcessInfo.processInfo.environment[kind.variable] != nil { return }
        let nginx = try Self.executable("nginx")
        let folder = FileManager.default.temporaryDirectory.appending(path: "targetkit-\(kind)-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.folder = folder
        var configuration = BenchmarkProgram.packageFolder.appending(path: kind.rawValue)
        do {
            switch kind {
            case .plain:
                // What is downloaded. It takes no space on the disk.
                let body = folder.appending(path: "1GB")
                try Data().write(to: body)
                let file = try FileHandle(forWritingTo: body)
                try file.truncate(atOffset: 1_000_000_000)
                try file.close()
            case .tls:
                try Self.makeCertificate(in: folder)
                // The paths of the certificate are those of the folder in which a person starts it.
                let text = try String(contentsOf: configuration, encoding: .utf8)
                    .replacing("/tmp/benchmark-nginx-tls", with: folder.path)
                configuration = folder.appending(path: "nginx.conf")
                try text.write(to: configuration, atomically: true, encoding: .utf8)
                environment[kind.variable] = folder.path
            }
            let process = Process()
            process.executableURL = nginx
            process.arguments = ["-p", folder.path, "-c", configuration.path]
            process.standardError = FileHandle.nullDevice
            try process.run()
            self.process = process
        } catch {
            stop()
            throw error
        }
    }

    func stop() {
        process?.terminate()
        process?.waitUntilExit()
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    private static func makeCertificate(in folder: URL) throws {
        let process = Process()
        process.executableURL = try executable("openssl")
        process.arguments =
            ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=DNS:localhost", "-keyout", folder.appending(path: "server.key").path]
            + ["-out", folder.appending(path: "server.pem").path]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ReportError(description: "openssl made no certificate") }
    }

    private static func executable(_ name: String) throws -> URL {
        // The folder of nginx is only in root's `PATH` on Debian.
        guard let file = Measuring.executable(name, in: ["/usr/sbin"]) else {
            throw ReportError(description: "\(name) isn't installed")
        }
        return file
    }
}
