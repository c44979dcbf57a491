// SPDX-License-Identifier: MIT
import TargetKit

/// A cassette that a test names: a folder or an archive beside the test's source file, or in a bundle.
package struct NamedCassette: Sendable {
    /// The environment variable with the mode for all named cassettes.
    package static let variable = "TARGETKIT_CASSETTES"

    /// Where the cassette is, and how to use it.
    package enum Place: Sendable {
        /// A folder, which may not exist yet unless it is replayed.
        case folder(URL, CassetteTransport.Mode)
        /// An archive, which is replayed.
        case archive(URL)
    }

    private let name: String
    private let source: String
    /// The searched locations, without the extension of an archive.
    private let candidates: [URL]

    /// Creates a cassette with the search order of ``Fixture``.
    package init(_ name: String, in bundle: Bundle?, source: String) {
        self.name = name
        self.source = source
        let beside = Fixture(name, source: source).candidates
        candidates = beside + (bundle.map { Fixture(name, in: $0).candidates } ?? [])
    }

    /// Finds the cassette, or chooses the folder of a new one.
    ///
    /// - Parameter text: The value of the environment variable; `nil` if it isn't set.
    /// - Throws: An error that lists the searched locations, or the valid modes.
    package func place(mode text: String?) throws -> Place {
        let mode = try mode(text ?? "")
        for url in candidates {
            if hasDocuments(url) { return .folder(url, mode) }
            let archive = name.hasSuffix(".har") ? url : url.appendingPathExtension("har")
            if mode != .record, FileManager.default.fileExists(atPath: archive.path) { return .archive(archive) }
        }
        guard mode != .replay else {
            throw CassetteError(
                ["There is no cassette \"\(name)\". Searched locations, as a folder with entries and as \(name).har:"]
                    + candidates.map { "  \($0.path)" }
                    + ["Set \(Self.variable)=record in the environment to record it."]
            )
        }
        return .folder(newFolder, mode)
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

    private func hasDocuments(_ folder: URL) -> Bool {
        let files = (try? CassetteFolder(url: folder).fileNames()) ?? []
        return files.contains { CassetteFolder.number(ofDocument: $0) != nil }
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
