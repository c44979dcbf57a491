// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// The sources' calls to Apple's "required reason API", compared with the declarations in the manifests beside them.
@Suite("Privacy manifests", .throttled)
struct PrivacyManifestTests {
    /// A category, and the calls that belong to it (Apple's "Describing use of required reason API").
    private static let categories: [String: [String]] = [
        "FileTimestamp": [
            "stat(", "fstat(", "lstat(", "fstatat(", "getattrlist", "attributesOfItem", "creationDate",
            "modificationDate",
            "ModificationDateKey", "CreationDateKey", "contentModificationDate", "contentAccessDate",
        ],
        "SystemBootTime": ["systemUptime", "mach_absolute_time", "mach_continuous_time"],
        "DiskSpace": [
            "volumeAvailableCapacity", "volumeTotalCapacity", "systemFreeSize", "systemSize", "statfs(", "statvfs(",
        ],
        "ActiveKeyboards": ["activeInputModes"],
        "UserDefaults": ["UserDefaults"],
    ]

    /// The reasons by Apple's codes. Those for wrappers do not apply: a file's size is sent, as Content-Length.
    private static let reasons: [String: Set<String>] = [
        // Files in the app's container, and files that a person has selected.
        "FileTimestamp": ["C617.1", "3B52.1"],
        // The app's own defaults, and those of its group.
        "UserDefaults": ["CA92.1", "1C8F.1"],
    ]

    private static let folders = ["Support", "TargetKit", "Plugins", "Transfers"]

    @Test("Declare exactly what the sources call", arguments: folders)
    func declared(folder: String) throws {
        let manifest = try manifest(of: folder)
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let declared = try types.reduce(into: [String: Set<String>]()) { declared, type in
            let name = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            let codes = try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
            declared[name] = Set(codes)
        }
        let called = try categories(in: folder)
        #expect(!called.isEmpty)
        let expected = called.map { ("NSPrivacyAccessedAPICategory" + $0, Self.reasons[$0] ?? []) }
        #expect(declared == Dictionary(uniqueKeysWithValues: expected))
    }

    @Test(
        "A product without a manifest calls nothing that it would have to declare",
        arguments: ["Storage", "Resilience", "Combine", "JSON", "Offline", "Diagnostics", "MoyaCompatibility"]
    )
    func undeclared(folder: String) throws {
        #expect(try categories(in: folder).isEmpty)
    }

    @Test("Declare no tracking and no collected data", arguments: folders)
    func nothingElse(folder: String) throws {
        let manifest = try manifest(of: folder)
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
        #expect(manifest.count == 4)
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    private func manifest(of folder: String) throws -> [String: Any] {
        let data = try Data(contentsOf: Self.sources.appending(path: "\(folder)/PrivacyInfo.xcprivacy"))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    /// The categories called on Apple's systems: in lines that are not comments, of files that are not only for Linux.
    private func categories(in folder: String) throws -> Set<String> {
        let files = try #require(
            FileManager.default.enumerator(at: Self.sources.appending(path: folder), includingPropertiesForKeys: nil)
        )
        var found: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            if lines.dropFirst().first.map({ $0.hasPrefix("#if os(Linux)") || $0.contains("Curl)") }) == true {
                continue
            }
            for line in lines where !line.contains("//") {
                found.formUnion(Self.categories.filter { $0.value.contains { Self.calls(line, $0) } }.keys)
            }
        }
        return found
    }

    /// Whether a name occurs in a line, and not as the end of a longer one.
    private static func calls(_ line: Substring, _ name: String) -> Bool {
        guard let range = line.range(of: name) else { return false }
        guard range.lowerBound > line.startIndex else { return true }
        let before = line[line.index(before: range.lowerBound)]
        return !before.isLetter && before != "_" || name.first?.isUppercase == true
    }
}
