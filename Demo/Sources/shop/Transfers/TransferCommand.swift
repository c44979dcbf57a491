// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins
import TargetKitTransfers

/// `shop download`: files of any server, of which several come at the same time.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads files, and goes on where an earlier run has stopped."
    )

    @Argument(help: "The URLs of the files.", transform: webAddress)
    var urls: [URL]

    @Option(help: "The folder for the files.", transform: { URL(filePath: $0) })
    var folder = URL(filePath: FileManager.default.currentDirectoryPath)

    @OptionGroup var options: TransferOptions

    func run() async throws {
        try await options.transfer(urls.map { .download($0, into: folder) })
    }
}

/// `shop upload`: files to a server that speaks tus.
struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Uploads files to a tus server, and goes on where an earlier run has stopped."
    )

    @Argument(help: "The files.", transform: { URL(filePath: $0) })
    var files: [URL]

    @Option(help: "Where the server creates uploads.", transform: webAddress)
    var to: URL

    @OptionGroup var options: TransferOptions

    func run() async throws {
        try await options.transfer(files.map { .upload($0, to: to) })
    }
}

/// How files are transferred, and what is shown meanwhile.
struct TransferOptions: ParsableArguments {
    @Option(help: "How many files at the same time.")
    var atOnce = 3

    @Option(help: "The most bytes in a second, for all files together.")
    var limit: Int?

    @OptionGroup var output: OutputOptions

    func transfer(_ targets: [FileTransfer]) async throws {
        let scope = RequestScope()
        let bandwidth = BandwidthLimitPlugin(BandwidthLimit(bytesPerSecond: limit))
        let provider = Provider<FileTransfer>(plugins: [RetryPlugin(), bandwidth], scope: scope)
        let queue = try TransferQueue(provider, maxConcurrent: atOnce)
        let console = output.console
        let interruption = Interruption {
            queue.pauseAll()
            Task { await scope.shutdown(grace: .zero) }
        }
        for target in targets { try await queue.add(target) }
        let screen = TransferScreen(console)
        for await transfers in queue.updates {
            screen.show(transfers)
            if interruption.exitStatus != nil || transfers.allSatisfy(\.state.hasEnded) { break }
        }
        await scope.shutdown(grace: .seconds(1))
        screen.end(queue.transfers)
        if let status = interruption.exitStatus {
            console.say(Phrase("Interrupted. The same command continues from here.", "已中断。再次运行同一命令即可继续。"))
            throw ExitCode(status)
        }
        let isFailed = queue.transfers.contains { if case .failed = $0.state { true } else { false } }
        if isFailed { throw ExitCode.failure }
    }
}
