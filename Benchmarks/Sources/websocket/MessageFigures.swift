// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitWebSocket
import WebSocketPeers

/// Messages of 16 bytes per second on one connection.
struct MessageFigures {
    private static let text = "0123456789abcdef"
    private static let receivedCount = 400_000
    private static let sentCount = 200_000
    private static let awaitedCount = 20_000
    /// The number of tasks that send at the same time.
    private static let senderCount = 64

    let server: Server

    func add(to table: Table) async throws {
        let (server, peer) = (server, NIOPeer(port: server.port))
        let received = try await Race(
            rounds: 7,
            [
                { try await Self.receive(server) }, { try Self.receiveInC(server) },
                { try await Self.receive(peer) },
            ]
        )
        add("received", received, Self.receivedCount, to: table)
        let sent = try await Race(
            rounds: 7,
            [
                { try await Self.send(Self.sentCount, by: Self.senderCount, server) },
                { try Self.sendInC(Self.sentCount, server) },
                { try await peer.send(Self.sentCount, Self.text, by: Self.senderCount) },
            ]
        )
        add("sent by \(Self.senderCount) tasks", sent, Self.sentCount, to: table)
        let awaited = try await Race(
            rounds: 7,
            [
                { try await Self.send(Self.awaitedCount, by: 1, server) },
                { try Self.sendInC(Self.awaitedCount, server) },
                { try await peer.send(Self.awaitedCount, Self.text, by: 1) },
            ]
        )
        add("sent one after another", awaited, Self.awaitedCount, goal: .none, to: table)
    }

    /// The goal is 100,000 messages per second, or 0.8 times those of the client in C.
    private func add(
        _ what: String,
        _ race: Race,
        _ count: Int,
        goal: Table.Goal = .atLeast(100_000),
        to table: Table
    ) {
        let rates = race.best.map { Double(count) / $0 }
        let own = "\(Int(rates[0]))/s"
        table.add(what, own, rounds: Rounds(race.seconds[0].map { (Double(count) / $0).rounded() }), goal: goal)
        table.add("\(what), by C", own, "\(Int(rates[1]))/s", rounds: race.rateRatios())
        guard rates.count > 2 else { return }
        table.add("\(what), by SwiftNIO", own, "\(Int(rates[2]))/s", rounds: race.rateRatios(0, by: 2))
    }

    private static func receive(_ server: Server) async throws {
        let socket = try await server.open("/flood/\(receivedCount)")
        var count = 0
        for try await message in socket.messages {
            guard case .text(let text) = message, text.utf8.count == 16 else { throw WrongResult(what: "\(message)") }
            count += 1
        }
        guard count == receivedCount else { throw WrongResult(what: "\(count) messages") }
    }

    private static func receiveInC(_ server: Server) throws {
        let count = websocket_receive(Int32(server.port), receivedCount)
        guard count == receivedCount else { throw WrongResult(what: "\(count) messages in C") }
    }

    private static func receive(_ peer: NIOPeer) async throws {
        let count = try await peer.receive("/flood/\(receivedCount)")
        guard count == receivedCount else { throw WrongResult(what: "\(count) messages for SwiftNIO") }
    }

    private static func send(_ count: Int, by senderCount: Int, _ server: Server) async throws {
        let socket = try await server.open("/sink/\(count)")
        try await makeCalls(count, inFlight: senderCount) { try await socket.send(text) }
        var messages = socket.messages.makeAsyncIterator()
        guard try await messages.next() == .text("done") else { throw WrongResult(what: "no confirmation") }
    }

    private static func sendInC(_ count: Int, _ server: Server) throws {
        guard websocket_send(Int32(server.port), count) == 0 else { throw WrongResult(what: "no confirmation in C") }
    }
}
