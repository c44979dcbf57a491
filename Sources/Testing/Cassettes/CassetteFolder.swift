// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// The files of a cassette: `001-GET-products.json` for a call, and its bodies beside it.
struct CassetteFolder: Sendable {
    let url: URL

    /// A document and its name, which has no extension.
    struct Item: Sendable {
        let name: String
        let document: CassetteDocument
    }

    /// Reads all documents, sorted by number.
    ///
    /// - Throws: ``CassetteError``, which names the file and what is wrong with it.
    func items() throws -> [Item] {
        let numbered = try documentNames().map { (number: Self.number(ofDocument: $0) ?? 0, name: $0) }
        return try numbered.sorted { ($0.number, $0.name) < ($1.number, $1.name) }.map { _, file in
            do {
                return Item(name: String(file.dropLast(5)), document: try CassetteDocument(try read(file)))
            } catch let problem as CassetteDocument.Problem {
                throw CassetteError("\(path(file)) \(problem.text); delete it to record the call again")
            }
        }
    }

    /// The bytes of a file of the folder.
    func read(_ name: String) throws -> Data {
        let file = url.appendingPathComponent(name)
        guard Self.isPlainName(name), !Self.isLink(file) else {
            throw CassetteError("\(path(name)) is a symbolic link, which a cassette does not follow")
        }
        do throws(AtomicFile.Failure) {
            if let data = try AtomicFile(file).read() { return data }
        } catch {
            throw CassetteError("\(path(name)) cannot be read: \(error.message)")
        }
        throw CassetteError("\(path(name)) does not exist; delete the document that names it to record the call again")
    }

    /// Writes an entry. The document is written last, so that other processes find either the whole entry or none.
    ///
    /// - Parameter item: The item to replace; `nil` for a new one with the lowest free number.
    func write(_ request: RedactedRequest, _ outcome: RecordedOutcome, replacing item: Item?) throws -> Item {
        try createFolder()
        let lock = FolderLock(url)
        defer { lock?.release() }
        let name = try item?.name ?? newName(request)
        var document = CassetteDocument(method: request.method, url: request.url, requestHeaders: request.headers)
        document.response = outcome.response
        document.response?.body = Data()
        document.failure = outcome.failure
        document.requestBody = try write(request.body, request.headers, as: name + ".request")
        if let response = outcome.response {
            document.responseBody = try write(response.body, response.headers, as: name + ".response")
        }
        try write(document.json.jsonData(pretty: true) + Data("\n".utf8), as: name + ".json")
        for old in item?.document.bodies ?? [] where !document.bodies.contains(old) {
            try? AtomicFile(url.appendingPathComponent(old)).remove()
        }
        return Item(name: name, document: document)
    }

    private func write(_ body: Data, _ headers: HTTPHeaders, as name: String) throws -> String? {
        guard !body.isEmpty else { return nil }
        let file = name + "." + Self.fileExtension(of: body, headers[.contentType])
        try write(body, as: file)
        return file
    }

    private func write(_ data: Data, as name: String) throws {
        let file = url.appendingPathComponent(name)
        // The file is replaced through a link otherwise, which may lead out of the folder.
        if Self.isLink(file) { try? FileManager.default.removeItem(at: file) }
        do throws(AtomicFile.Failure) {
            try AtomicFile(file, isDurable: false).write(data)
        } catch {
            throw CassetteError("\(path(name)) cannot be written: \(error.message)")
        }
    }

    private func createFolder() throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw CassetteError("the cassette's folder \(url.path) cannot be created: \(error.localizedDescription)")
        }
    }

    private func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

// MARK: - Names

extension CassetteFolder {
    /// The names of the documents.
    private func documentNames() throws -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            guard FileManager.default.fileExists(atPath: url.path) else { return [] }
            throw CassetteError("the cassette's folder \(url.path) cannot be read: \(error.localizedDescription)")
        }
        return names.filter { Self.number(ofDocument: $0) != nil }
    }

    /// The number of a document `001-GET.json`; `nil` for another file, such as a body, which has another dot.
    private static func number(ofDocument name: String) -> Int? {
        guard name.hasSuffix(".json"), isPlainName(name), let hyphen = name.utf8.firstIndex(of: UInt8(ascii: "-")),
            name.utf8.firstIndex(of: UInt8(ascii: ".")) == name.utf8.index(name.utf8.endIndex, offsetBy: -5)
        else { return nil }
        return Int(name[..<hyphen])
    }

    private func newName(_ request: RedactedRequest) throws -> String {
        let taken = Set(try documentNames().compactMap(Self.number(ofDocument:)))
        var number = 1
        while taken.contains(number) { number += 1 }
        let digits = String(number)
        let slug = Self.slug(request.method + "-" + request.path)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits + "-" + slug
    }

    /// The text with everything but ASCII letters and digits replaced by single hyphens.
    private static func slug(_ text: String) -> String {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-").prefix(48)
            .trimmingCharacters(in: CharacterSet(charactersIn: "-"))
    }

    /// Whether a name is that of a visible file in the folder, on every file system.
    static func isPlainName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && name.utf8.count <= 255
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private static func isLink(_ file: URL) -> Bool {
        var status = stat()
        return lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func fileExtension(of body: Data, _ contentType: String?) -> String {
        let type = contentType.map(BodyFormat.mediaType) ?? ""
        if let known = extensions[type] { return known }
        if type.hasSuffix("+json") { return "json" }
        if type.hasSuffix("+xml") { return "xml" }
        if type.hasPrefix("multipart/") { return "multipart" }
        switch BodyContent(body, contentType: contentType) {
        case .json: return "json"
        case .form, .text: return "txt"
        default: return "bin"
        }
    }

    private static let extensions = [
        "application/json": "json", "application/x-ndjson": "ndjson", "application/xml": "xml", "text/xml": "xml",
        "text/html": "html", "text/plain": "txt", "text/csv": "csv", "text/event-stream": "txt",
        "application/x-www-form-urlencoded": "txt", "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif",
        "image/webp": "webp", "image/svg+xml": "svg", "application/pdf": "pdf", "application/zip": "zip",
        "application/gzip": "gz",
    ]
}

/// A lock on a folder, which processes and threads take before they choose a new name in it.
private struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Waits for the lock; `nil` if the file system has none.
    init?(_ folder: URL) {
        descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        while flock(descriptor, LOCK_EX) != 0 {
            if errno == EINTR { continue }
            break
        }
    }

    func release() {
        close(descriptor)
    }
}
