// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The file of a store, which is JSON with a version and the cookies in the order in which they were first stored.
struct CookieFile: Sendable {
    private struct Content: Codable {
        var version = 1
        var cookies: [Cookie]
    }

    private let url: URL

    init(_ url: URL) throws(CookieFileError) {
        guard url.isFileURL else { throw CookieFileError(path: url.absoluteString, reason: .notAFile) }
        // Without this, the new file would replace a link instead of its target.
        self.url = url.resolvingSymlinksInPath()
        var isFolder: ObjCBool = false
        let folder = self.url.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CookieFileError(path: url.path, reason: .noFolder)
        }
    }

    /// Reads the cookies in the file; returns an empty array if the file doesn't exist.
    func read() throws(CookieFileError) -> [Cookie] {
        let stored: Data?
        do { stored = try AtomicFile(url).read() } catch { throw failure(.unreadable) }
        guard let data = stored else { return [] }
        let content: Content
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            content = try decoder.decode(Content.self, from: data)
        } catch {
            throw failure(.broken(error.redactedLine))
        }
        guard content.version == 1 else { throw failure(.broken("it has version \(content.version), not 1")) }
        return try content.cookies.enumerated().map { index, cookie throws(CookieFileError) in
            guard let cookie = cookie.checked else {
                throw failure(.broken("cookies.[\(index)] isn't a valid cookie"))
            }
            return cookie
        }
    }

    /// Replaces the file atomically.
    func save(_ cookies: [Cookie]) throws(CookieFileError) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data: Data
        do {
            data = try encoder.encode(Content(cookies: cookies))
        } catch {
            throw failure(.unwritable(error.redactedLine))
        }
        do {
            try AtomicFile(url).write(data)
        } catch {
            throw failure(.unwritable(error.message))
        }
    }

    private func failure(_ reason: CookieFileError.Reason) -> CookieFileError {
        CookieFileError(path: url.path, reason: reason)
    }
}

/// The reason why the file of a ``CookieStore`` can't be used.
package struct CookieFileError: Error, Sendable, Hashable {
    /// The reason.
    package enum Reason: Sendable, Hashable {
        /// The URL isn't a file URL.
        case notAFile
        /// The file's folder doesn't exist.
        case noFolder
        /// The file exists, but can't be read.
        case unreadable
        /// The contents of the file are invalid. The text describes the location, without cookie values.
        case broken(String)
        /// The file couldn't be written. The text is the system's message.
        case unwritable(String)
    }

    /// The file's path, or the URL if it isn't a file URL.
    package let path: String
    /// The reason.
    package let reason: Reason
}

extension CookieFileError: CustomStringConvertible, LocalizedError, DeveloperError {
    /// The file, the reason and a remedy, on one line.
    package var description: String { "cookie file \(path): \(reason)" }

    /// The description, also used for `localizedDescription`.
    package var errorDescription: String? { description }
}

extension CookieFileError.Reason: CustomStringConvertible {
    /// The reason and a remedy, on one line.
    package var description: String {
        switch self {
        case .notAFile: "it isn't a file URL; use URL(fileURLWithPath:)"
        case .noFolder: "its folder doesn't exist; create it first"
        case .unreadable: "it can't be read; change its permissions, or use another file"
        case .broken(let why):
            "it doesn't contain cookies (\(why)); delete it to start without cookies, or use another file"
        case .unwritable(let why): "it couldn't be written (\(why)); its cookies are older than those in memory"
        }
    }
}
