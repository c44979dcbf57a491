// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

extension TestServer {
    /// Another protocol on a connection whose client requests it (RFC 9110 §7.8), or a response that refuses it. The
    /// closure is called on the server's thread, and must not block.
    package struct Upgrade {
        /// The steps to run first, including the response.
        package var steps: [Step]
        /// Takes what the client sends after its request, and returns the steps to run after those that wait; `nil` if
        /// HTTP goes on.
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
        // What has arrived after the request belongs to the new protocol.
        parser.takeAll().withUnsafeBytes { if !$0.isEmpty { take(upgraded: $0) } }
    }

    /// Passes bytes to the protocol that replaced HTTP; returns `false` if none has.
    @discardableResult
    func take(upgraded bytes: UnsafeRawBufferPointer) -> Bool {
        guard let receiveUpgraded else { return false }
        steps.insert(contentsOf: receiveUpgraded(bytes).reversed(), at: 0)
        return true
    }
}
