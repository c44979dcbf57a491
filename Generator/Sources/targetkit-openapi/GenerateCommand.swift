// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import OpenAPIDocument
import TargetGenerator

@main
struct TargetKitOpenAPI: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "targetkit-openapi",
        abstract: "Writes TargetKit's targets, models, samples and tests from an OpenAPI document.",
        subcommands: [GenerateCommand.self]
    )
}

struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes the Swift files of an OpenAPI 3.0 or 3.1 document in JSON or YAML."
    )

    @Argument(help: "The document.", completion: .file(extensions: ["yaml", "yml", "json"]))
    var document: String

    @Option(name: .shortAndLong, help: "The folder for the files, for example Sources/Petstore.")
    var output: String

    @Option(help: "The module's name; default: the last part of the output folder.")
    var module: String?

    @Option(help: "Only operations with one of these tags, separated by commas.")
    var tags: String?

    @Option(help: "Only operations with one of these identifiers, separated by commas.")
    var operations: String?

    @Option(help: "The access of the declarations: public or internal.")
    var access = GenerationOptions.Access.public

    @Option(help: "An enum for each tag (routed), or a struct for each operation (typed).")
    var style = GenerationOptions.Style.routed

    @Option(name: .customLong("base-url"), help: "The server's URL, if the document has only relative ones.")
    var baseURL: String?

    @Flag(help: "Write sample data, for stubs.")
    var samples = false

    @Flag(help: "Write tests that hold the samples and requests against the document. Implies --samples.")
    var tests = false

    @Option(name: .customLong("tests-output"), help: "The folder for the tests; default: Tests/<module>Tests.")
    var testsOutput: String?

    @Flag(help: "Write nothing; exit with 1 if the files on disk differ from what would be written.")
    var check = false

    @Option(name: .customLong("single-file"), help: .hidden)
    var singleFile: String?

    func run() throws {
        let folder = URL(fileURLWithPath: output, isDirectory: true)
        var options = GenerationOptions(module: module ?? folder.lastPathComponent)
        options.tags = Self.list(tags)
        options.operations = Self.list(operations)
        (options.access, options.style, options.baseURL) = (access, style, baseURL)
        (options.samples, options.tests) = (samples || tests, tests)
        let result: TargetGenerator.Output
        do {
            let document = try Document(contentsOf: URL(fileURLWithPath: document))
            result = try TargetGenerator(document: document, options: options).generate()
        } catch {
            Self.printError("error: \(error)")
            throw ExitCode(65)
        }
        let files = OutputFiles(result: result, folder: folder, testsFolder: testsFolder(options.module))
        let changed = try check ? files.differences() : files.write()
        report(result, changed: changed)
        if check, !changed.isEmpty { throw ExitCode.failure }
    }

    private func testsFolder(_ module: String) -> URL {
        if let testsOutput { return URL(fileURLWithPath: testsOutput, isDirectory: true) }
        let sources = URL(fileURLWithPath: output, isDirectory: true).deletingLastPathComponent()
        let root = sources.lastPathComponent == "Sources" ? sources.deletingLastPathComponent() : sources
        return root.appending(path: "Tests/\(module)Tests", directoryHint: .isDirectory)
    }

    private static func list(_ text: String?) -> Set<String> {
        Set((text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
    }

    private func report(_ result: TargetGenerator.Output, changed: [String]) {
        for note in result.notes { Self.printError(note.line) }
        var summary = "\(result.operationCount) operations and \(result.modelCount) types"
        summary += " in \(result.files.count + result.tests.count) files"
        let constructs = Dictionary(grouping: result.notes, by: \.construct).mapValues(\.count)
        if !constructs.isEmpty {
            let list = constructs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            summary += "; not expressed: \(list)"
        }
        Self.printError(summary + ".")
        guard check else { return }
        for path in changed { print("differs: \(path)") }
    }

    private static func printError(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

extension GenerationOptions.Access: ExpressibleByArgument {}
extension GenerationOptions.Style: ExpressibleByArgument {}
