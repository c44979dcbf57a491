// SPDX-License-Identifier: MIT
import ArgumentParser
import ShopServer

/// `shop serve`: the server by itself, for `shop --base-url` in another window.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs the shop's server by itself, until Ctrl-C."
    )

    @Option(help: "The port on 127.0.0.1; 0 for a free one.")
    var port: UInt16 = 0

    func run() async throws {
        let console = Console()
        let server = try await ShopServer.start(port: port)
        console.line("The tea shop's server listens at \(server.baseURL.absoluteString); Ctrl-C ends it.")
        let interruption = Interruption { Task { await server.stop() } }
        await server.waitUntilStopped()
        throw ExitCode(interruption.exitStatus ?? ExitCode.failure.rawValue)
    }
}
