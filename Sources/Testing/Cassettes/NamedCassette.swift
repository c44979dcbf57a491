// SPDX-License-Identifier: MIT
import TargetKit

/// A cassette that a test names: a folder or an archive beside the test's source file, or in a bundle.
package struct NamedCassette: Sendable {
    /// The environment variable with the mode for all named cassettes.
    package static let variable = "TARGETKIT_CASSETTES"

    /// What a transport for the cassette does beside its mode.
    package struct Settings: Sendable {
        let transport: any Transport
        let parts: [RequestPart]
        let names: Set<String>
        let redaction: Redaction
        let repeats: Bool

        /// Creates settings with the parameters of ``CassetteTransport``.
        package init(
            recording transport: any Transport,
            matching parts: [RequestPart],
            ignoring names: Set<String>,
            redaction: Redaction,
            repeats: Bool
        ) {
            self.transport = transport
            self.parts = parts
            self.names = names
            self.redaction = redaction
            self.repeats = repeats
        }
    }

    private let name: String
    private let source: String
    /// The searched locations, without the extension of an archive.
    private let candidates: [URL]
    private let settings: Settings

    /// Creates a cassette with the search order of ``Fixture``.
    package init(_ name: String, in bundle: Bundle?, source: String, _ settings: Settings) {
        self.name = name
        self.source = source
        self.settings = settings
        let beside = Fixture(name, source: source).candidates
        candidates = beside + (bundle.map { Fixture(name, in: $0).candidates } ?? [])
    }

    /// Creates the transport.
    ///
    /// - Parameter mode: The value of the environment variable; `nil` if it isn't set.
    /// - Throws: An error that lists the searched locations, or the valid modes.
    package func transport(mode text: String?) throws -> CassetteTransport {
        let mode = try mode(text ?? "")
        let found = candidates.lazy.compactMap(cassette).first { mode != .record || !$0.isArchive }
        if let found {
            return found.isArchive
                ? CassetteTransport(
                    har: found.url,
                    matching: settings.parts,
                    ignoring: settings.names,
                    redaction: settings.redaction,
                    repeats: settings.repeats
                ) : transport(mode, found.url)
        }
        guard mode != .replay else {
            throw CassetteError(
                ["There is no cassette \"\(name)\". Searched locations, as a folder with entries and as \(name).har:"]
                    + candidates.map { "  \($0.path)" }
                    + ["Set \(Self.variable)=record in the environment to record it."]
            )
        }
        return transport(mode, newFolder)
    }

    private func transport(_ mode: CassetteTransport.Mode, _ folder: URL) -> CassetteTransport {
        CassetteTransport(
            mode,
            folder: folder,
            recording: settings.transport,
            matching: settings.parts,
            ignoring: settings.names,
            redaction: settings.redaction,
            repeats: settings.repeats
        )
    }

    private func mode(_ text: String) throws -> CassetteTransport.Mode {
        switch text.lowercased() {
        case "", "replay": .replay
        case "record": .record
        case "auto": .auto
        default:
            throw CassetteError(
                "\(Self.variable) is \"\(text.excerpt(40).inOneLine)\"; use replay, record or auto, or remove it"
            )
        }
    }

    /// The cassette at a location: a folder with documents, or an archive.
    private func cassette(at url: URL) -> (url: URL, isArchive: Bool)? {
        let files = (try? CassetteFolder(url: url).fileNames()) ?? []
        if files.contains(where: { CassetteFolder.number(ofDocument: $0) != nil }) { return (url, false) }
        let archive = name.hasSuffix(".har") ? url : url.appendingPathExtension("har")
        return FileManager.default.fileExists(atPath: archive.path) ? (archive, true) : nil
    }

    /// The folder of a cassette that is recorded first.
    private var newFolder: URL {
        let name = name.hasSuffix(".har") ? String(name.dropLast(4)) : name
        return URL(fileURLWithPath: source).deletingLastPathComponent().appendingPathComponent("Fixtures")
            .appendingPathComponent(name)
    }
}

extension CassetteTransport {
    /// The cassette of the current test.
    @TaskLocal package static var ofTest: CassetteTransport?

    /// The cassette of the current test, which its trait `.replays(_:)` of TargetKitTestingTraits names.
    ///
    /// Each test, and each case of a test with arguments, has its own, so that tests can run in parallel. Its child tasks
    /// have it, too. In a detached task, a callback, or a test without the trait, calls of the transport fail.
    public static var current: CassetteTransport {
        ofTest
            ?? CassetteTransport(
                failing: CassetteError(
                    "there is no current cassette; add the trait .replays(\"name\") to the test, and read "
                        + "CassetteTransport.current in the test's own task"
                )
            )
    }
}
