// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A program that a test starts, with `posix_spawn`.
///
/// Foundation's `Process` (6.3.1) reads past the end of a buffer when it looks for the open descriptors of a process
/// that has more than about 1,000 of them, as the whole suite does: `findMaximumOpenFromProcSelfFD`. It also blocks
/// SIGTERM in its children.
public final class ChildProcess: Sendable {
    /// What a child has at one of its three standard streams.
    public enum Stream: Sendable {
        /// Nothing: reading ends at once, and what is written is dropped.
        case null
        /// This descriptor.
        case descriptor(Int32)
    }

    /// The program could not be started, for the reason that `errno` names.
    public struct Failure: Error, CustomStringConvertible {
        let program: String
        let code: Int32

        /// The program and the system's words.
        public var description: String { "\(program): \(String(cString: strerror(code)))" }
    }

    /// Its number.
    public let id: pid_t

    /// Starts the program at that path.
    ///
    /// - Throws: ``Failure``.
    public init(
        _ program: String,
        _ arguments: [String] = [],
        in folder: URL? = nil,
        input: Stream = .null,
        output: Stream = .null,
        errors: Stream = .null
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [input, output, errors].enumerated() {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
        _ = Self.closeRest?(&actions, 3)
        // A shell goes to the folder: what does it before the start came with glibc 2.29.
        let path = folder == nil ? program : "/bin/sh"
        let change = folder.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0.path] } ?? []
        var words: [UnsafeMutablePointer<CChar>?] = (change + [program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var number: pid_t = 0
        let code = posix_spawn(&number, path, &actions, nil, &words, environ)
        guard code == 0 else { throw Failure(program: program, code: code) }
        id = number
    }

    /// Waits until it has ended, on the calling thread, and returns its status; 128 and the signal when one has ended
    /// it.
    public func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }

    /// Runs a program to its end.
    ///
    /// - Throws: ``Failure``.
    public static func run(
        _ program: String,
        _ arguments: [String],
        in folder: URL? = nil
    ) throws -> (status: Int32, output: Data, errors: Data) {
        let scratch = try TemporaryFolder()
        let output = try FileHandle(forUpdating: scratch.file("output"))
        let errors = try FileHandle(forUpdating: scratch.file("errors"))
        let child = try ChildProcess(
            program,
            arguments,
            in: folder,
            output: .descriptor(output.fileDescriptor),
            errors: .descriptor(errors.fileDescriptor)
        )
        let status = child.wait()
        return (
            status, try Data(contentsOf: scratch.url.appending(path: "output")),
            try Data(contentsOf: scratch.url.appending(path: "errors"))
        )
    }

    /// Runs a program to its end, on a thread of its own, since others may wait long for it.
    ///
    /// - Throws: ``Failure``.
    public static func finished(
        _ program: String,
        _ arguments: [String]
    ) async throws -> (status: Int32, output: Data, errors: Data) {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try run(program, arguments) }) }
        }
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// Came with glibc 2.34. Without it, descriptors that do not close by themselves stay open in the child.
    private static let closeRest: CloseFrom? = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np")
        .map { unsafeBitCast($0, to: CloseFrom.self) }
}
#elseif os(macOS)
import Foundation

/// A program that a test starts.
public enum ChildProcess {
    /// Runs a program to its end.
    ///
    /// - Throws: Foundation's error when it cannot be started.
    public static func run(
        _ program: String,
        _ arguments: [String]
    ) throws -> (status: Int32, output: Data, errors: Data) {
        let scratch = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forUpdating: scratch.file("output"))
        process.standardError = try FileHandle(forUpdating: scratch.file("errors"))
        try process.run()
        process.waitUntilExit()
        return (
            process.terminationStatus, try Data(contentsOf: scratch.url.appending(path: "output")),
            try Data(contentsOf: scratch.url.appending(path: "errors"))
        )
    }
}
#endif
