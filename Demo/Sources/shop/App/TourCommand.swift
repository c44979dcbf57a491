// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import ShopServer
import TargetKit
import TargetKitPlugins

/// `shop tour`, and `shop` by itself.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Signs in, lists, orders, transfers files, meets errors, and says what happens."
    )

    @OptionGroup var server: ServerOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Log header fields and bodies, with what is secret redacted.")
    var verbose = false

    @Flag(help: "Let the slow call run until Ctrl-C.")
    var hold = false

    @Flag(help: "Simulate a bad network: lost connections, overloaded servers, latency.")
    var chaos = false

    @Option(help: "Determines the failures of the bad network.")
    var seed: UInt64 = 1

    @Option(help: "A file for a page that shows all calls on a timeline.", transform: { URL(filePath: $0) })
    var timeline: URL?

    func run() async throws {
        let console = output.console
        let timeline = try timeline.map(Timeline.init)
        let (server, environments) = try await server.start()
        let client = ShopClient(settings(environments, console, timeline))
        greet(environments.current, console)

        let tour = Tour(client: client, console: console, isHeld: hold, continuesAfterErrors: chaos)
        let interruption = interruption(of: client, console)
        let result = await Task { try await tour.run() }.result
        await client.scope.shutdown(grace: .seconds(1))
        await server?.stop()
        await write(timeline, console)
        if let status = interruption.exitStatus {
            console.say(Phrase("Nothing is running any more.", "已全部停止。"))
            throw ExitCode(status)
        }
        if case .failure(let error) = result {
            console.space()
            console.failed(error)
            throw ExitCode.failure
        }
    }

    private func settings(
        _ environments: EnvironmentStore,
        _ console: Console,
        _ timeline: Timeline?
    ) -> ShopClient.Settings {
        var settings = ShopClient.Settings(environments)
        settings.languages = [output.lang.rawValue]
        settings.plugins = [
            LoadingPlugin(delay: .milliseconds(150)) { isLoading in
                console.log(console.text(isLoading ? .loadingBegins : .loadingEnds))
            },
            NetworkLoggerPlugin(level: verbose ? .body : .basic) { line in console.log(line) },
        ]
        settings.onRetry = { attempt in console.log(console.text(.retry(attempt))) }
        if let timeline { settings.plugins.append(timeline.plugin) }
        if chaos {
            settings.plugins.append(Chaos(seed: seed))
            settings.retryPolicy = Chaos.retryPolicy
        }
        return settings
    }

    private func greet(_ environment: ServerEnvironment, _ console: Console) {
        let address = environment.baseURL.absoluteString
        console.record(
            "begin",
            ["url": .string(address), "environment": .string(environment.name)],
            Phrase("The tea shop, \(environment.name), at \(address)", "茶叶店（\(environment.name)）：\(address)")
        )
        guard chaos else { return }
        console.say(Phrase("On a bad network, by the seed \(seed)", "模拟弱网，种子 \(seed)"))
    }

    /// The first Ctrl-C lets calls in flight end, and begins no others.
    private func interruption(of client: ShopClient, _ console: Console) -> Interruption {
        Interruption {
            let count = client.scope.inFlightCount
            console.space()
            console.say(
                Phrase(
                    "Interrupted. Calls in flight, which have 2 s to end: \(count). Press Ctrl-C again to end now.",
                    "已中断。\(count) 个请求最多再等 2 秒；再按 Ctrl-C 立即退出。"
                )
            )
            Task { await client.scope.shutdown(grace: Interruption.grace) }
        }
    }

    private func write(_ timeline: Timeline?, _ console: Console) async {
        guard let timeline else { return }
        do {
            let path = try await timeline.write()
            console.record("timeline", ["file": .string(path)], Phrase("The timeline: \(path)", "时间线：\(path)"))
        } catch {
            console.failed(error)
        }
    }
}

extension Phrase {
    fileprivate static let loadingBegins = Phrase("(loading is shown)", "（显示加载中）")
    fileprivate static let loadingEnds = Phrase("(loading is hidden)", "（隐藏加载中）")

    fileprivate static func retry(_ attempt: FailedAttempt) -> Phrase {
        let delay = Int(attempt.delay / .milliseconds(1))
        return Phrase("(\(attempt): retried in \(delay) ms)", "（\(attempt)：\(delay) 毫秒后重试）")
    }
}
