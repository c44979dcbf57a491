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

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let console = output.console
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
        var table = Table(columns: Self.columns.map { console.text($0) })
        var differing: [HTTPBin] = []
        for (index, call) in HTTPBin.allCases.enumerated() {
            let result = await result(of: call, from: provider)
            if let status = interruption.exitStatus {
                console.say(
                    Phrase(
                        "Interrupted at call \(index + 1) of \(HTTPBin.allCases.count), which was cancelled.",
                        "在第 \(index + 1) 个请求（共 \(HTTPBin.allCases.count) 个）处中断，该请求已取消。"
                    )
                )
                throw ExitCode(status)
            }
            let address = baseURL.absoluteString
            if index == 0, case .failure(let error) = result, error.response == nil {
                console.say(Phrase("No httpbin at \(address): \(error)", "\(address) 没有 httpbin：\(error)"))
                throw ExitCode.failure
            }
            let received = Account(result)
            let isSame = received == call.declared
            if !isSame { differing.append(call) }
            table.add([
                ["\(index + 1)"], [call.rawValue], [call.method.rawValue], call.declared.lines, received.lines,
                [received.status], [console.text(isSame ? Phrase("ok", "一致") : Phrase("differs", "不一致"))],
            ])
            let fields: [String: JSONValue] = [
                "number": .count(index + 1), "call": .string(call.rawValue), "method": .string(call.method.rawValue),
                "declared": .array(call.declared.lines.map(JSONValue.string)),
                "received": .array(received.lines.map(JSONValue.string)),
                "status": .string(received.status), "isSame": .bool(isSame),
            ]
            console.record("call", fields)
        }
        console.draw(table.text + "\n")
        try finish(differing, console)
    }

    private static let columns = [
        Phrase(same: "#"), Phrase("call", "请求"), Phrase("method", "方法"), Phrase("declared", "声明"),
        Phrase("received", "收到"), Phrase("status", "状态码"), Phrase(same: ""),
    ]

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
        let count = HTTPBin.allCases.count
        guard !differing.isEmpty else {
            return console.say(
                Phrase(
                    "All \(count) calls: the server received what was declared.",
                    "\(count) 个请求全部一致：服务器收到的就是声明的。"
                )
            )
        }
        console.say(Phrase("\(differing.count) of \(count) calls differ:", "\(count) 个请求中有 \(differing.count) 个不一致："))
        for call in differing {
            let status = call.declared.status
            console.say(
                Phrase("  \(call.rawValue) (status \(status) was declared)", "  \(call.rawValue)（声明的状态码是 \(status)）")
            )
        }
        throw ExitCode.failure
    }
}
