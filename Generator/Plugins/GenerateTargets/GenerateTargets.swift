// SPDX-License-Identifier: MIT
import Foundation
import PackagePlugin

/// `swift package generate-targets`: writes the files of each target that has a `targetkit-openapi.json`, beside it.
@main
struct GenerateTargets: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        var arguments = ArgumentExtractor(arguments)
        let names = Set(arguments.extractOption(named: "target"))
        let tool = try context.tool(named: "targetkit-openapi")
        var found = false
        for target in context.package.targets.compactMap({ $0 as? any SourceModuleTarget }) {
            // The tests of a target are written with it.
            guard target.kind != .test, names.isEmpty || names.contains(target.name) else { continue }
            let folder = target.directoryURL
            let file = folder.appending(path: "targetkit-openapi.json")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            found = true
            try generate(
                with: tool.url,
                ["generate", "--config", file.path, "--output", folder.path, "--module", target.moduleName]
                    + arguments.remainingArguments
            )
        }
        if !found { Diagnostics.error("No target has a targetkit-openapi.json in its folder.") }
    }

    private func generate(with tool: URL, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            Diagnostics.error("targetkit-openapi ended with \(process.terminationStatus).")
        }
    }
}
