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

    @Argument(help: "The document; without it, a configuration is needed.")
    var document: String?

    @Option(help: "A targetkit-openapi.json, which replaces the other options about what is written.")
    var config: String?

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

    @Option(name: .customLong("base-url"), help: "The URL of the default server, to which relative ones are added.")
    var baseURL: String?

    @Option(help: "The security schemes to use where an operation has alternatives, separated by commas.")
    var security: String?

    @Flag(help: "Write a line for each place, even if the messages are equal.")
    var verbose = false

    @Flag(help: "Write sample data, for stubs.")
    var samples = false

    @Flag(help: "Write tests that hold the samples and requests against the document. Implies --samples.")
    var tests = false

    @Option(name: .customLong("tests-output"), help: "The folder for the tests; default: Tests/<module>Tests.")
    var testsOutput: String?

    @Flag(help: "Write nothing; exit with 1 if the files on disk differ from what would be written.")
    var check = false

    @Option(
        name: .customLong("single-file"),
        help: ArgumentHelp("One file for all, for build tools.", visibility: .hidden)
    )
    var singleFile: String?

    @Flag(name: .customLong("only-tests"), help: ArgumentHelp("Only the tests, for build tools.", visibility: .hidden))
    var onlyTests = false

    func validate() throws {
        guard document != nil || config != nil else {
            throw ValidationError("Name a document, or a configuration with --config.")
        }
        if singleFile != nil, tests { throw ValidationError("--single-file writes no tests.") }
    }

    func run() throws {
        let differs: Bool
        do {
            let (document, options) = try input()
            let result = try TargetGenerator(document: Document(contentsOf: document), options: options).generate()
            var files = onlyTests ? result.tests : result.files
            if let singleFile { files = [SourceFile(merging: files, path: singleFile)] }
            let output = OutputFiles(
                files: files,
                folder: folder,
                tests: onlyTests ? [] : result.tests,
                testsFolder: testsFolder(options.module)
            )
            let changed = try check ? output.differences() : output.write()
            let count = files.count + (onlyTests ? 0 : result.tests.count)
            Report(result: result, fileCount: count, isVerbose: verbose).write()
            differs = check && !changed.isEmpty
            for path in changed where check { print("differs: \(path)") }
        } catch {
            Report.write("error: \(error)")
            throw ExitCode(65)
        }
        if differs { throw ExitCode.failure }
    }

    private var folder: URL { URL(fileURLWithPath: output, isDirectory: true) }

    /// The document and the options, from the configuration or the command line.
    private func input() throws -> (document: URL, options: GenerationOptions) {
        var options = GenerationOptions(module: module ?? folder.lastPathComponent)
        if let config {
            let file = URL(fileURLWithPath: config)
            let configuration = try Configuration(contentsOf: file)
            try configuration.apply(to: &options)
            if singleFile != nil { options.tests = onlyTests }
            if onlyTests, configuration.module == nil {
                throw ConfigurationError(message: "\(config): tests need the “module” that they test")
            }
            return (file.deletingLastPathComponent().appending(path: configuration.document), options)
        }
        options.tags = Self.list(tags)
        options.operations = Self.list(operations)
        options.security = Self.parts(security)
        (options.access, options.style, options.baseURL) = (access, style, baseURL)
        (options.samples, options.tests) = (samples || tests, tests)
        return (URL(fileURLWithPath: document ?? ""), options)
    }

    private func testsFolder(_ module: String) -> URL {
        if let testsOutput { return URL(fileURLWithPath: testsOutput, isDirectory: true) }
        let sources = folder.deletingLastPathComponent()
        let root = sources.lastPathComponent == "Sources" ? sources.deletingLastPathComponent() : sources
        return root.appending(path: "Tests/\(module)Tests", directoryHint: .isDirectory)
    }

    private static func list(_ text: String?) -> Set<String> { Set(parts(text)) }

    private static func parts(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension GenerationOptions.Access: ExpressibleByArgument {}
extension GenerationOptions.Style: ExpressibleByArgument {}
