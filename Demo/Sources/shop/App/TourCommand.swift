// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopServer

/// `shop tour`, and `shop` by itself.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Signs in, lists, searches, orders, uploads, cancels, meets a 401; says what happens."
    )

    @Option(help: "A shop server that runs already. Default: one of the program's own.", transform: webAddress)
    var baseURL: URL?

    @Flag(help: "Log header fields and bodies, with what is secret redacted.")
    var verbose = false

    @Flag(help: "Let the slow call run until Ctrl-C.")
    var hold = false

    func run() async throws {
        let console = Console()
        let client = ShopClient(logLevel: verbose ? .body : .basic, console: console)
        let server = baseURL == nil ? try await ShopServer.start() : nil
        ShopAddress.current = baseURL ?? server?.baseURL ?? ShopAddress.current
        console.line("The tea shop, at \(ShopAddress.current.absoluteString)")

        let tour = Task { try await Tour(client: client, console: console, isHeld: hold).run() }
        let interruption = Interruption {
            console.line()
            console.line("Interrupted. Calls in flight, which are cancelled: \(client.scope.inFlightCount)")
            tour.cancel()
            // Refuses what would still begin, and cancels the rest without a time of grace.
            Task { await client.scope.shutdown(grace: .zero) }
        }
        let result = await tour.result
        await client.scope.shutdown(grace: .seconds(1))
        await server?.stop()
        if let status = interruption.exitStatus {
            console.line("Nothing is running any more.")
            throw ExitCode(status)
        }
        if case .failure(let error) = result {
            console.line("\nThis went wrong: \(error)")
            throw ExitCode.failure
        }
    }
}

/// Reads an address of the command line.
@Sendable
func webAddress(_ text: String) throws -> URL {
    guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host() != nil
    else {
        throw ValidationError("\(text) is no address: write http://127.0.0.1:8080, for one")
    }
    return url
}
