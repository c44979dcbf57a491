// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import ShopServer
import TargetKit

/// `shop watch`: what is left of the products, as it changes.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows the stock over a WebSocket, which is opened again when the server restarts."
    )

    @OptionGroup var server: ServerOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "End after this number of messages. Default: at Ctrl-C.")
    var count: Int?

    @Option(help: "Restart the program's own server after this number of messages.")
    var restartAfter: Int?

    func validate() throws {
        guard restartAfter == nil || server.baseURL == nil else {
            throw ValidationError("--restart-after restarts the program's own server; leave out --base-url")
        }
        for (name, number) in [("--count", count), ("--restart-after", restartAfter)] {
            guard let number, number < 1 else { continue }
            throw ValidationError("\(name) is \(number); write 1 or more")
        }
    }

    func run() async throws {
        let console = output.console
        let (own, environments) = try await server.start()
        let running = Guarded(own)
        let client = ShopClient(ShopClient.Settings(environments))
        let watch = StockWatch(client: client, console: console)
        let interruption = Interruption { Task { await client.scope.shutdown(grace: Interruption.grace) } }
        let result = await Task {
            try await watch.run(count: count) { received in
                guard received == restartAfter, let old = running.value else { return }
                console.say(Phrase("--- the server is restarted ---", "--- 服务器重启 ---"))
                await old.stop()
                // So that the first attempt to open it again fails.
                try await Task.sleep(for: .seconds(1))
                let new = try await old.startAgain()
                running.withLock { $0 = new }
            }
        }.result
        await client.scope.shutdown(grace: .seconds(1))
        await running.value?.stop()
        if let status = interruption.exitStatus { throw ExitCode(status) }
        if case .failure(let error) = result {
            console.failed(error)
            throw ExitCode.failure
        }
    }
}
