// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import TargetKit
import TargetKitDiagnostics

/// Records the calls, and writes a page that shows them.
struct Timeline {
    private let file: URL
    private let archive: URL
    /// The plugin that records.
    let plugin: HARPlugin

    /// - Parameter file: Where the page is written.
    /// - Throws: `ValidationError` if its folder doesn't exist.
    init(writingTo file: URL) throws {
        var isFolder: ObjCBool = false
        let folder = file.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ValidationError("The timeline can't be written: the folder \(folder) doesn't exist")
        }
        self.file = file
        archive = FileManager.default.temporaryDirectory.appending(path: "shop-\(getpid())-\(UUID()).har")
        plugin = HARPlugin(file: archive)
    }

    /// Writes the page, and returns its path.
    func write() async throws -> String {
        defer { try? FileManager.default.removeItem(at: archive) }
        await plugin.flush()
        try TimelinePage(har: Data(contentsOf: archive), title: "The tea shop").write(to: file)
        return file.path
    }
}
