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

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = output.console
        let server = try await ShopServer.start(port: port)
        let address = server.baseURL.absoluteString
        console.record(
            "begin",
            ["url": .string(address)],
            Phrase(
                "The tea shop's server listens at \(address); Ctrl-C ends it.",
                "茶叶店的服务器在 \(address)；按 Ctrl-C 结束。"
            )
        )
        let interruption = Interruption { Task { await server.stop() } }
        await server.waitUntilStopped()
        throw ExitCode(interruption.exitStatus ?? ExitCode.failure.rawValue)
    }
}
