// SPDX-License-Identifier: MIT
import Foundation
import PackagePlugin

/// Generates a target's calls while it is built, as the `targetkit-openapi.json` in its folder says. In a test target,
/// it generates the tests of the module that the file names.
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
        let isTest = module.kind == .test
        let name = module.moduleName + (isTest ? "Generated.swift" : "Targets.swift")
        let output = context.pluginWorkDirectoryURL
        var arguments = [
            "generate", "--config", configuration.path, "--output", output.path,
            "--module", module.moduleName, "--single-file", name,
        ]
        if isTest { arguments.append("--only-tests") }
        return [
            .buildCommand(
                displayName: "Generating \(name)",
                executable: try context.tool(named: "targetkit-openapi").url,
                arguments: arguments,
                inputFiles: [configuration] + documents(of: configuration, in: folder),
                outputFiles: [output.appending(path: name)]
            )
        ]
    }

    /// The document, and those beside the sources or it, to which it may refer.
    private func documents(of configuration: URL, in folder: URL) -> [URL] {
        var folders = [folder]
        // The command reports a file that can't be read.
        if let data = try? Data(contentsOf: configuration),
            let document = try? JSONDecoder().decode(DocumentPath.self, from: data).document
        {
            let place = folder.appending(path: document).standardizedFileURL.deletingLastPathComponent()
            if !place.path.hasPrefix(folder.standardizedFileURL.path) { folders.append(place) }
        }
        let files = folders.flatMap { folder -> [Any] in
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        }
        return files.compactMap { $0 as? URL }
            .filter { ["yaml", "yml", "json"].contains($0.pathExtension) && $0 != configuration }
            .sorted { $0.path < $1.path }
    }
}

/// The part of the configuration that says where the document is.
private struct DocumentPath: Decodable {
    var document: String
}
