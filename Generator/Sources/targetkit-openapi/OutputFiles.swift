// SPDX-License-Identifier: MIT
import Foundation
import TargetGenerator

/// The generated files and those on disk.
struct OutputFiles {
    private let wanted: [(url: URL, text: String)]
    private let folders: [URL]

    init(files: [SourceFile], folder: URL, tests: [SourceFile], testsFolder: URL) {
        wanted =
            files.map { (folder.appending(path: $0.path), $0.text) }
            + tests.map { (testsFolder.appending(path: $0.path), $0.text) }
        folders = tests.isEmpty ? [folder] : [folder, testsFolder]
    }

    /// The paths of files that are missing, differ, or were generated before and are no longer wanted.
    func differences() -> [String] {
        let changed = wanted.filter { (try? Data(contentsOf: $0.url)) != Data($0.text.utf8) }.map(\.url.path)
        return (changed + leftovers().map(\.path)).sorted()
    }

    /// Writes the files that differ, removes those of an earlier run, and returns their paths.
    func write() throws -> [String] {
        let changed = differences()
        let paths = Set(changed)
        for (url, text) in wanted where paths.contains(url.path) {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: url, options: .atomic)
        }
        for url in leftovers() { try FileManager.default.removeItem(at: url) }
        return changed
    }

    /// Generated files that this run doesn't write. Files of other origin are left alone.
    private func leftovers() -> [URL] {
        let paths = Set(wanted.map(\.url.standardizedFileURL.path))
        return folders.flatMap { folder -> [URL] in
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            return (files?.allObjects ?? []).compactMap { $0 as? URL }.filter { url in
                guard url.pathExtension == "swift", !paths.contains(url.standardizedFileURL.path),
                    let text = try? Data(contentsOf: url)
                else { return false }
                return text.starts(with: Data(SourceFile.mark.utf8))
            }
        }
    }
}
