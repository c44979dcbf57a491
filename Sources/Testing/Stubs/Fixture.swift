// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// A file with test data, for example the body of a response.
///
/// ```swift
/// .get("/orders"): .file(Fixture("orders/list.json", in: .module))
/// let order = try JSONDecoder().decode(Order.self, from: Fixture("orders/7.json", in: .module).data())
/// ```
///
/// Apps don't link TargetKitTesting. In an app, a target reads its sample from the bundle:
///
/// ```swift
/// var sampleData: Data {
///     let url = Bundle.module.url(forResource: "list", withExtension: "json", subdirectory: "orders")
///     return url.flatMap { try? Data(contentsOf: $0) } ?? Data()
/// }
/// ```
///
/// The file is read when it is needed. The error for a missing file lists all searched locations, and files with
/// similar names.
public struct Fixture: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        case folders([URL])
        case source(String)
    }

    /// The path of the file, relative to the bundle or folder.
    package let name: String
    private let place: Place

    /// Creates a fixture in a bundle's resources, or in their folder `Fixtures` or `Resources`.
    ///
    /// Swift Package Manager flattens the folders of resources declared with `.process`, so a file is also found by its
    /// last path component.
    public init(_ name: String, in bundle: Bundle) {
        self.name = name
        var folders = [bundle.resourceURL, bundle.bundleURL].compactMap { $0?.standardizedFileURL }
        if folders.count == 2, folders[0].path == folders[1].path { folders.removeLast() }
        place = .folders(folders)
    }

    /// Creates a fixture in a folder.
    public init(_ name: String, in folder: URL) {
        self.name = name
        place = .folders([folder])
    }

    /// Creates a fixture in the source file's folder, or in a folder `Fixtures` of it or one of its parent folders, up
    /// to the folder of the package or project. The file need not be a resource of the test target, but the sources
    /// must be on the machine that runs the test.
    ///
    /// - Parameters:
    ///   - name: The path of the file relative to one of these folders.
    ///   - source: The path of the source file; default: the file that creates the fixture.
    public init(_ name: String, source: String = #filePath) {
        self.name = name
        place = .source(source)
    }

    /// The location of the file.
    ///
    /// - Throws: An error that lists the searched locations.
    public func url() throws -> URL {
        let candidates = candidates
        if let url = candidates.first(where: \.isFile) { return url }
        throw FixtureError.missing(name, candidates: candidates)
    }

    /// The contents of the file.
    ///
    /// - Throws: An error that lists the searched locations, or Foundation's error if the file can't be read.
    public func data() throws -> Data {
        try Data(contentsOf: url())
    }

    /// The contents of the file as text.
    ///
    /// - Throws: The errors of ``data()``, or an error if the file isn't UTF-8.
    public func text() throws -> String {
        guard let text = String(data: try data(), encoding: .utf8) else {
            throw StubError("The fixture \(name) isn't UTF-8 text.")
        }
        return text
    }

    /// The contents of the file as JSON.
    ///
    /// - Throws: The errors of ``data()``, or an error if the file isn't valid JSON.
    public func json() throws -> JSONValue {
        let data = try data()
        do {
            return try JSONValue(parsing: data)
        } catch {
            throw StubError("The fixture \(name) isn't valid JSON: \(error)")
        }
    }

    /// The media type of the file's extension; `application/octet-stream` if it is unknown.
    package var contentType: String { MIMEType.forFile(named: name) }
}

// MARK: - Searching

extension Fixture {
    /// The locations to search, in order.
    var candidates: [URL] {
        var urls: [URL] = []
        switch place {
        case .folders(let folders):
            let file = name.split(separator: "/").last.map(String.init) ?? name
            for folder in folders {
                urls += [folder, folder.appending("Fixtures"), folder.appending("Resources")].map { $0.appending(name) }
                if file != name { urls.append(folder.appending(file)) }
            }
        case .source(let source):
            var folder = URL(fileURLWithPath: source).deletingLastPathComponent()
            urls.append(folder.appending(name))
            for _ in 0..<20 {
                urls.append(folder.appending("Fixtures").appending(name))
                if folder.isProject || folder.pathComponents.count < 2 { break }
                folder = folder.deletingLastPathComponent()
            }
        }
        return urls
    }
}

private enum FixtureError {
    /// The error for a file that wasn't found.
    static func missing(_ name: String, candidates: [URL]) -> StubError {
        var lines = ["Searched locations:"] + candidates.map { "  \($0.path)" }
        let similar = similarFiles(name, candidates: candidates)
        if !similar.isEmpty { lines.append("Similar files: \(similar.joined(separator: ", "))") }
        return StubError("There is no fixture \"\(name)\".", lines: lines)
    }

    /// The paths of up to three files with similar names in the folders that were searched.
    private static func similarFiles(_ name: String, candidates: [URL]) -> [String] {
        let file = URL(fileURLWithPath: name).lastPathComponent
        let depth = name.split(separator: "/").count
        var seen: Set<String> = []
        var files: [(path: String, distance: Double)] = []
        for candidate in candidates {
            // Stays within the searched folders, because a file may have been searched without its own folders.
            let levels = candidate.path.hasSuffix("/" + name) ? depth : 1
            let folder = (0..<levels).reduce(candidate) { url, _ in url.deletingLastPathComponent() }
            let paths = FileManager.default.enumerator(atPath: folder.path)
            var count = 0
            while count < 2000, let path = paths?.nextObject() as? String {
                count += 1
                let url = folder.appending(path)
                let distance = EditDistance.dissimilarity(url.lastPathComponent.lowercased(), file.lowercased())
                guard distance <= 0.4, url.isFile, seen.insert(url.standardizedFileURL.path).inserted else { continue }
                files.append((path, distance))
            }
        }
        return files.sorted { ($0.distance, $0.path) < ($1.distance, $1.path) }.prefix(3).map(\.path)
    }
}

extension URL {
    fileprivate func appending(_ path: String) -> URL {
        appendingPathComponent(path)
    }

    /// Whether the URL refers to a file rather than a folder.
    fileprivate var isFile: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// Whether this is the folder of a package, project or repository.
    fileprivate var isProject: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.contains { $0 == "Package.swift" || $0 == ".git" || $0.hasSuffix(".xcodeproj") }
    }
}
