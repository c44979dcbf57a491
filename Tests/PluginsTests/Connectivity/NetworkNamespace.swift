// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TestSupport
import Testing

/// A network namespace of its own, with nothing but a loopback in it; made and changed by `ip` of iproute2.
struct NetworkNamespace: Sendable {
    /// What `ip` did not do.
    struct Refusal: Error, CustomStringConvertible {
        var description: String
    }

    private static let numbers = Locked(0)

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

    /// Opens the sockets of a source in the namespace.
    ///
    /// The thread is of this one purpose, and does nothing else while it is in the namespace: a thread that it started,
    /// such as a worker of Dispatch, would stay there, and connect other tests to a loopback on which nothing listens.
    func sockets() async throws -> NetlinkConnectivity.Sockets {
        let sockets: NetlinkConnectivity.Sockets? = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try visit { NetlinkConnectivity.Sockets() } })
            }
        }
        return try #require(sockets)
    }

    /// Runs the body in the namespace, and goes back to the thread's own.
    private func visit<Value>(_ body: () -> Value) throws -> Value {
        // `setns`, which Swift's Glibc module does not have.
        typealias Setns = @convention(c) (Int32, Int32) -> Int32
        guard let symbol = dlsym(nil, "setns") else { throw Refusal(description: "no setns") }
        let setns = unsafeBitCast(symbol, to: Setns.self)
        // CLONE_NEWNET
        let kind: Int32 = 0x4000_0000
        let home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        defer { close(home) }
        let descriptor = open("/run/netns/\(name)", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard home >= 0, descriptor >= 0, setns(descriptor, kind) == 0 else {
            throw Refusal(description: "cannot enter \(name)")
        }
        let value = body()
        guard setns(home, kind) == 0 else { throw Refusal(description: "cannot leave \(name)") }
        return value
    }

    private static func run(_ words: [String]) async throws {
        let status = try await ChildProcess.finished("/usr/bin/env", ["ip"] + words).status
        if status != 0 { throw Refusal(description: "ip \(words.joined(separator: " ")): status \(status)") }
    }
}
#endif
