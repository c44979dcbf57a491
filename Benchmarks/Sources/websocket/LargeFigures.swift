// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitWebSocket
import WebSocketPeers

/// The echo of a message of 64 MB.
struct LargeFigures {
    private static let size = 64 << 20

    let server: Server

    func add(to table: Table) async throws {
        let server = server
        let text = String(repeating: "a", count: Self.size)
        let race = try await Race(
            rounds: 5,
            [
                { try await Self.echo(.data(Data(count: Self.size)), server) },
                { try await Self.echo(.text(text), server) }, { try Self.echoInC(server) },
            ]
        )
        let rates = race.best.map { Double(Self.size) / $0 / 1e6 }
        let peer = "\(Int(rates[2])) MB/s in C"
        table.add("echo of 64 MB of data", "\(Int(rates[0])) MB/s", peer, rounds: race.rateRatios(0, by: 2))
        table.add("echo of 64 MB of text", "\(Int(rates[1])) MB/s", peer, rounds: race.rateRatios(1, by: 2))
        ProcessFigures.resetPeak()
        let before = ProcessFigures.residentBytes
        try await Self.echo(.text(text), server)
        let memory = Double(ProcessFigures.peakBytes - before) / Double(1 << 20)
        table.add("the same: memory", "\(Int(memory)) MiB", figure: memory)
    }

    private static func echo(_ message: WebSocketMessage, _ server: Server) async throws {
        let socket = try await server.open("/echo", limits: WebSocketLimits(messageSize: size, frameSize: size))
        async let sending: Void = {
            switch message {
            case .text(let text): try await socket.send(text)
            case .data(let data): try await socket.send(data)
            }
        }()
        var messages = socket.messages.makeAsyncIterator()
        guard try await messages.next() == message else { throw WrongResult(what: "another message") }
        try await sending
        await socket.close()
    }

    private static func echoInC(_ server: Server) throws {
        let count = websocket_echo(Int32(server.port), size)
        guard count == size else { throw WrongResult(what: "\(count) bytes in C") }
    }
}
