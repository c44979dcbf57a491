// SPDX-License-Identifier: MIT
import ArgumentParser

@main
struct Shop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shop",
        abstract: "A tea shop's client: what an app does with TargetKit, in a terminal.",
        subcommands: [
            TourCommand.self, WatchCommand.self, DownloadCommand.self, UploadCommand.self, OfflineCommand.self,
            ServeCommand.self, HTTPBinCommand.self,
        ],
        defaultSubcommand: TourCommand.self
    )
}
