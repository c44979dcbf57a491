// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// `shop httpbin`: sends a list of calls to a server that nobody here wrote, and compares.
struct HTTPBinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "httpbin",
        abstract: "Makes calls to an httpbin and prints what was declared beside what the server received."
    )

    @Option(help: "Where httpbin runs.", transform: webAddress)
    var baseURL: URL

    func run() async throws {
        let console = Console()
        let scope = RequestScope()
        let interruption = Interruption { scope.cancelAll() }
        try Samples.writeFile()
        defer { Samples.removeFile() }

        let token = AccessTokenPlugin { target in (target as? HTTPBin) == .basic ? "ada:love:lace" : "lovelace" }
        let provider = Provider<HTTPBin>(
            endpointClosure: { [baseURL] in try Endpoint($0, at: baseURL) },
            plugins: [token],
            scope: scope
        )
        var table = Table(columns: ["#", "call", "method", "declared", "received", "status", ""])
        var differing: [HTTPBin] = []
        for (index, call) in HTTPBin.allCases.enumerated() {
            let result = await result(of: call, from: provider)
            if let status = interruption.exitStatus {
                console.say(
                    Phrase(same: "Interrupted at call \(index + 1) of \(HTTPBin.allCases.count), which was cancelled.")
                )
                throw ExitCode(status)
            }
            if index == 0, case .failure(let error) = result, error.response == nil {
                console.say(Phrase(same: "No httpbin at \(baseURL.absoluteString): \(error)"))
                throw ExitCode.failure
            }
            let received = Account(result)
            let isSame = received == call.declared
            if !isSame { differing.append(call) }
            table.add([
                ["\(index + 1)"], [call.rawValue], [call.method.rawValue], call.declared.lines, received.lines,
                [received.status], [isSame ? "ok" : "differs"],
            ])
        }
        console.say(Phrase(same: table.text))
        try finish(differing, console)
    }

    private func result(
        of call: HTTPBin,
        from provider: Provider<HTTPBin>
    ) async -> Result<Response, TargetKitError> {
        let running = Task { () async -> Result<Response, TargetKitError> in
            do throws(TargetKitError) {
                return .success(try await provider.request(call))
            } catch {
                return .failure(error)
            }
        }
        if call == .cancelled {
            try? await Task.sleep(for: .milliseconds(200))
            running.cancel()
        }
        return await running.value
    }

    private func finish(_ differing: [HTTPBin], _ console: Console) throws {
        guard !differing.isEmpty else {
            return console.say(
                Phrase(same: "All \(HTTPBin.allCases.count) calls: the server received what was declared.")
            )
        }
        let names = differing.map { "\($0.rawValue) (status \($0.declared.status) was declared)" }
        console.say(Phrase(same: "\(differing.count) of \(HTTPBin.allCases.count) calls differ:"))
        names.forEach { console.say(Phrase(same: "  " + $0)) }
        throw ExitCode.failure
    }
}
