// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TestSupport

/// A network namespace of its own, with nothing but a loopback in it; made and changed by `ip` of iproute2.
struct NetworkNamespace: Sendable {
    /// What `ip` did not do.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    private static let numbers = TestLock(0)

    let name: String

    /// What a skipped test says.
    static let skipReason = "skipped: network namespaces need root and `ip` of iproute2"

    /// Whether one can be made here: by root, with `ip`, where the system lets it.
    static var canBeMade: Bool {
        get async {
            guard geteuid() == 0 else { return false }
            do {
                try await with { _ in }
                return true
            } catch {
                return false
            }
        }
    }

    /// Makes one, and removes it at the end, however the body ends.
    static func with(_ body: (NetworkNamespace) async throws -> Void) async throws {
        let number = numbers.withLock { number in
            number += 1
            return number
        }
        let namespace = NetworkNamespace(name: "tk-\(getpid())-\(number)")
        try await run(["netns", "add", namespace.name])
        do {
            try await namespace.ip("link set lo up")
            try await body(namespace)
        } catch {
            try? await run(["netns", "del", namespace.name])
            throw error
        }
        try await run(["netns", "del", namespace.name])
    }

    /// Does what the words say to `ip`, in the namespace.
    func ip(_ words: String) async throws {
        try await Self.run(["-n", name] + words.split(separator: " ").map(String.init))
    }

    /// Runs the body in the namespace, on a thread that ends with it: the threads of the test process stay where they are.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                guard enter() else {
                    return continuation.resume(throwing: Refusal(description: "cannot enter \(name)"))
                }
                continuation.resume(returning: body())
            }
        }
    }

    /// `setns`, which Swift's Glibc module does not have.
    private func enter() -> Bool {
        typealias Setns = @convention(c) (Int32, Int32) -> Int32
        let descriptor = open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let symbol = dlsym(nil, "setns") else { return false }
        defer { close(descriptor) }
        // CLONE_NEWNET
        return unsafeBitCast(symbol, to: Setns.self)(descriptor, 0x4000_0000) == 0
    }

    private static func run(_ words: [String]) async throws {
        let status = try await ChildProcess.finished("/usr/bin/env", ["ip"] + words).status
        if status != 0 { throw Refusal(description: "ip \(words.joined(separator: " ")): status \(status)") }
    }
}
#endif
