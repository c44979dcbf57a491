// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import WebSocketPeers

/// WebSockets on loopback: small messages, large ones, and many sockets.
@main
struct WebSocketBenchmark {
    static func main() async throws {
        // First, while this process has one thread.
        let port = Int(websocket_start_server())
        guard port > 0 else { throw CocoaError(.featureUnsupported) }
        let server = Server(port: port)
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "open", let inFlight = arguments.last.flatMap({ Int($0) }) {
            return try await MemoryFigures.report(inFlight: inFlight, server: server)
        }
        let table = Table("WebSockets, against a client in C and SwiftNIO on the same socket")
        switch arguments.first(where: { !$0.hasPrefix("-") }) {
        case nil:
            try MemoryFigures(server: server).add(to: table)
            try await MessageFigures(server: server).add(to: table)
            try await LargeFigures(server: server).add(to: table)
        case "memory": try MemoryFigures(server: server).add(to: table)
        case "messages": try await MessageFigures(server: server).add(to: table)
        case "large": try await LargeFigures(server: server).add(to: table)
        case .some(let other):
            print("There is no “\(other)”: websocket [memory | messages | large] [--check]")
            exit(2)
        }
        table.finish()
    }
}
