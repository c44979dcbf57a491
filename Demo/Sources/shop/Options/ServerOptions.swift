// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import ShopServer
import TargetKitPlugins

/// Which server the program talks to.
struct ServerOptions: ParsableArguments {
    @Option(help: "A shop server that runs already. Default: one of the program's own.", transform: webAddress)
    var baseURL: URL?

    @Option(help: "The system that is used: production or staging.")
    var environment = ShopEnvironment.production

    /// The program's own server, unless there is another one.
    func start() async throws -> (server: ShopServer?, environments: EnvironmentStore) {
        if let baseURL { return (nil, environment.store(at: baseURL)) }
        let server = try await ShopServer.start()
        return (server, environment.store(at: server.baseURL))
    }
}

extension ShopEnvironment: ExpressibleByArgument {}

/// Reads an address of the command line.
@Sendable
func webAddress(_ text: String) throws -> URL {
    guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host() != nil
    else {
        throw ValidationError("\(text) is not a web address; write one such as http://127.0.0.1:8080")
    }
    return url
}
