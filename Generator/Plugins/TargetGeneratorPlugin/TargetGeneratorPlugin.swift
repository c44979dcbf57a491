// SPDX-License-Identifier: MIT
import Foundation
import PackagePlugin

/// Generates a target's calls while it is built, as the `targetkit-openapi.json` in its folder says.
@main
struct TargetGeneratorPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let module = target as? any SourceModuleTarget else { return [] }
        let folder = module.directoryURL
        let configuration = folder.appending(path: "targetkit-openapi.json")
        guard FileManager.default.fileExists(atPath: configuration.path) else {
            Diagnostics.error("\(target.name) needs a targetkit-openapi.json in \(folder.path).")
            return []
        }
        let name = module.moduleName + "Targets.swift"
        let output = context.pluginWorkDirectoryURL
        return [
            .buildCommand(
                displayName: "Generating \(name)",
                executable: try context.tool(named: "targetkit-openapi").url,
                arguments: [
                    "generate", "--config", configuration.path, "--output", output.path,
                    "--module", module.moduleName, "--single-file", name,
                ],
                inputFiles: [configuration] + documents(in: folder),
                outputFiles: [output.appending(path: name)]
            )
        ]
    }

    /// The documents in the folder, one of which may refer to another.
    private func documents(in folder: URL) -> [URL] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { ["yaml", "yml", "json"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
    }
}
