// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer {
    /// An upgrade of a connection to another protocol (RFC 9110 §7.8), or a response that rejects it. The closure is
    /// called on the server's thread, and must not block.
    package struct Upgrade {
        /// The steps to run first, including the response.
        package var steps: [Step]
        /// Receives the client's bytes after its request, and returns the steps to run after the queued ones; `nil` if
        /// the connection continues with HTTP.
        package var receive: ((UnsafeRawBufferPointer) -> [Step])?

        package init(steps: [Step], receive: ((UnsafeRawBufferPointer) -> [Step])? = nil) {
            self.steps = steps
            self.receive = receive
        }
    }
}

extension TestServer.Step {
    /// Continues with another protocol. The closure is called on the server's thread.
    package static func upgrade(_ make: @escaping @Sendable (TestServer.Request) -> TestServer.Upgrade) -> Self {
        Self(action: .upgrade(make))
    }
}

extension ServerConnection {
    func upgrade(by make: @Sendable (TestServer.Request) -> TestServer.Upgrade) {
        guard let request else { return }
        let upgrade = make(request)
        steps += upgrade.steps.reversed()
        guard let receive = upgrade.receive else { return }
        receiveUpgraded = receive
        // The bytes after the request belong to the new protocol.
        parser.takeAll().withUnsafeBytes { if !$0.isEmpty { take(upgraded: $0) } }
    }

    /// Passes bytes to the new protocol, and returns `false` without an upgrade.
    @discardableResult
    func take(upgraded bytes: UnsafeRawBufferPointer) -> Bool {
        guard let receiveUpgraded else { return false }
        steps.insert(contentsOf: receiveUpgraded(bytes).reversed(), at: 0)
        return true
    }
}
