// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

#if os(Linux)
/// Code that a reader copies from a page into a file has to compile there. The app's own types and functions that a
/// page uses are in further files of `Tests/Pages`, `<page>.swift` and `<page>+<other page>.swift`.
@Suite("Page compilation", .throttled, .serialized, .enabled(if: BuiltModules.areThere), .timeLimit(.minutes(10)))
struct PageCompilationTests {
    @Test(
        "Each page compiles as a separate file with only the imports that it shows, in a package and in a new app",
        arguments: pages,
        Settings.allCases.filter { Matrix.isWhole || $0 != .newAppInSwift5 }
    )
    func compiles(page: DocumentationPage, settings: Settings) async throws {
        // A target of tests isn't isolated by default.
        if settings != .package, page.description == "Testing.md" { return }
        let folder = try TemporaryFolder()
        let file = try folder.file("Page.swift", Data(page.source().utf8))
        let searched = [BuiltModules.folder] + DocumentationPage.moduleMapFolders
        let flags = searched.flatMap { ["-I", $0.path] }
        let errors = try await errors(
            settings.flags + ["-enable-upcoming-feature", "InternalImportsByDefault"] + flags
                + ["-parse-as-library", file.path] + page.beside.map(\.path)
        )
        #expect(errors == "")
    }

    @Test(
        "Each section of a page about Moya compiles as a separate file with only the imports that it shows",
        arguments: DocumentationPage.pages(in: "Sources/MoyaCompatibility/TargetKitMoya.docc")
    )
    func compilesBySection(page: DocumentationPage) async throws {
        let folder = try TemporaryFolder()
        var files = page.beside
        for (number, source) in try page.sectionSources().enumerated() {
            files.append(try folder.file("Section\(number).swift", Data(source.utf8)))
        }
        for module in DocumentationPage.modules {
            let name = module.deletingPathExtension().lastPathComponent
            let emit = ["-emit-module", "-emit-module-path", folder.url.appending(path: "\(name).swiftmodule").path]
            let emitted = try await output(
                of: ["swiftc", "-parse-as-library", "-module-name", name, module.path] + emit
            )
            #expect(emitted.status == 0, "\(emitted.text)")
        }
        guard !files.isEmpty else { return }
        let searched = [BuiltModules.folder, folder.url] + DocumentationPage.moduleMapFolders
        // Moya's code names protocols without `any`.
        let language = ["-swift-version", "6", "-enable-upcoming-feature", "MemberImportVisibility"]
        let flags = language + searched.flatMap { ["-I", $0.path] } + ["-parse-as-library"]
        #expect(try await errors(flags + files.map(\.path)) == "")
    }

    @Test("Each step of the tutorials compiles with the files of the steps before", arguments: TutorialStep.all)
    func compiles(step: TutorialStep) async throws {
        let folder = try TemporaryFolder()
        let files = try step.sources.map { try folder.file($0.key, Data($0.value.utf8)).path }
        let flags = ([BuiltModules.folder] + DocumentationPage.moduleMapFolders).flatMap { ["-I", $0.path] }
        let kind = step.sources.keys.contains("main.swift") ? [] : ["-parse-as-library"]
        for settings in [Settings.package, .newApp] {
            #expect(try await errors(settings.flags + flags + kind + files.sorted()) == "", "\(settings)")
        }
    }

    @Test("The demo's models compile with the settings of a new app", arguments: [Settings.newApp, .newAppInSwift5])
    func demo(settings: Settings) async throws {
        let files = ["Order", "Product", "Credentials"].map { "Demo/Sources/ShopAPI/Calls/\($0).swift" }
        let flags = ([BuiltModules.folder] + DocumentationPage.moduleMapFolders).flatMap { ["-I", $0.path] }
        let package = ["-parse-as-library", "-package-name", "demo"]
        #expect(try await errors(settings.flags + flags + package + files.map(DocumentationPage.path)) == "")
    }

    @Test("A name of Moya is an error that states its replacement")
    func moyaNames() async throws {
        let folder = try TemporaryFolder()
        let names = DocumentationPage.moyaNames()
        let lines = names.map { $0.code }
        let source = "import Foundation\nimport TargetKit\n" + lines.joined(separator: "\n")
        let file = try folder.file("Moya.swift", Data(source.utf8))
        let searched = [BuiltModules.folder] + DocumentationPage.moduleMapFolders
        let flags = searched.flatMap { ["-I", $0.path] }
        let style = ["-parse-as-library", "-diagnostic-style", "llvm"]
        let text = try await errors(Settings.package.flags + flags + style + [file.path])
        for (number, name) in names.enumerated() {
            let place = "Moya.swift:\(number + 3):"
            let errors = text.split(separator: "\n").filter { $0.contains(place) && $0.contains("error:") }
            #expect(errors.contains { $0.contains(name.replacement) }, "\(name.code): \(errors)")
        }
    }

    @Test("Untyped JSON is written with TargetKit alone, and reading it is an error that states the import")
    func untypedJSON() async throws {
        let folder = try TemporaryFolder()
        let writing = """
            func task() -> HTTPTask { .json(["a": [1, "x"], "b": ["c": true]]) }
            func body(_ name: String) -> JSONValue { ["name": .string(name), "sizes": [1, 2.5, nil]] }
            func text(_ json: JSONValue) -> String { "\\(json)" }
            """
        let reading = """
            func number(_ json: JSONValue) -> Int? { json.total.lenient.int }
            func orZero(_ json: JSONValue) -> Int { json.total.int ?? 0 }
            func text(_ json: JSONValue) -> String? { json.string }
            func change(_ json: inout JSONValue) { json.user.name = "Ann" }
            """
        let flags = ([BuiltModules.folder] + DocumentationPage.moduleMapFolders).flatMap { ["-I", $0.path] }
        let style = ["-parse-as-library", "-diagnostic-style", "llvm"]
        func result(_ imports: String, _ code: String) async throws -> String {
            let file = try folder.file("JSON.swift", Data((imports + "\n" + code).utf8))
            return try await errors(Settings.package.flags + flags + style + [file.path])
        }
        #expect(try await result("import TargetKit", writing) == "")
        #expect(try await result("import TargetKit\nimport TargetKitJSON", reading) == "")
        let found = try await result("import TargetKit", reading).split(separator: "\n").filter {
            $0.contains("error:")
        }
        for line in 2...5 { #expect(found.contains { $0.contains("JSON.swift:\(line):") }, "\(found)") }
        for error in found { #expect(error.contains("import TargetKitJSON to read untyped JSON")) }
    }

    @Test("The manifest for a new package compiles")
    func manifest() async throws {
        let manifests = try DocumentationPage("Sources/TargetKit/TargetKit.docc/GettingStarted.md").manifests()
        #expect(manifests.count == 1)
        for manifest in manifests {
            let folder = try TemporaryFolder()
            let file = try folder.file("Package.swift", Data(manifest.utf8))
            let target = try await output(of: ["swiftc", "-print-target-info"])
            let info = try JSONDecoder().decode(TargetInfo.self, from: Data(target.text.utf8))
            let library = URL(filePath: info.paths.runtimeResourcePath).appending(path: "pm/ManifestAPI").path
            #expect(try await errors(["-package-description-version", "6.0.0", "-I", library, file.path]) == "")
        }
    }

    /// The compiler's settings of a module.
    enum Settings: CaseIterable, Sendable {
        case package
        /// The settings of a new app in Xcode 26.
        case newApp, newAppInSwift5

        var flags: [String] {
            let version = self == .newAppInSwift5 ? "5" : "6"
            let features = ["MemberImportVisibility", "ExistentialAny"]
            let isolation = ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"]
            return ["-swift-version", version]
                + (self == .package ? features : features + isolation).flatMap { ["-enable-upcoming-feature", $0] }
                + (self == .package ? [] : ["-default-isolation", "MainActor"])
        }
    }

    private static let pages =
        [DocumentationPage("README.md"), DocumentationPage("README.zh-Hans.md")]
        + [
            "Sources/TargetKit/TargetKit.docc", "Sources/JSON/TargetKitJSON.docc",
            "Sources/Plugins/TargetKitPlugins.docc", "Sources/Resilience/TargetKitResilience.docc",
            "Sources/Combine/TargetKitCombine.docc",
            "Sources/Transfers/TargetKitTransfers.docc", "Sources/Offline/TargetKitOffline.docc",
            "Sources/Diagnostics/TargetKitDiagnostics.docc", "Sources/WebSocket/TargetKitWebSocket.docc",
            "Sources/WebSocketTesting/TargetKitWebSocketTesting.docc",
            "Sources/Testing/TargetKitTesting.docc", "Sources/TestingTraits/TargetKitTestingTraits.docc",
            "Sources/Contracts/TargetKitContracts.docc",
            "Sources/TransportConformance/TargetKitTransportConformance.docc", "Documentation/zh-Hans",
        ].flatMap { DocumentationPage.pages(in: $0) }

    private struct TargetInfo: Decodable {
        struct Paths: Decodable { var runtimeResourcePath: String }
        var paths: Paths
    }

    /// The compiler's diagnostics for the files; empty when they compile.
    private func errors(_ arguments: [String]) async throws -> String {
        let compiled = try await output(
            of: ["swiftc", "-emit-sil", "-whole-module-optimization", "-o", "/dev/null", "-module-name", "Page"]
                + arguments
        )
        return compiled.status == 0 ? "" : "status \(compiled.status): \(compiled.text)"
    }

    private func output(of words: [String]) async throws -> (status: Int32, text: String) {
        let (status, output, errors) = try await ChildProcess.finished("/usr/bin/env", words)
        return (status, String(decoding: output + errors, as: UTF8.self))
    }
}

/// The package's modules, which `swift build` places beside the test executable.
private enum BuiltModules {
    static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "Modules")

    static var areThere: Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: "TargetKitPlugins.swiftmodule").path)
    }
}
#endif
