// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// The files of a cassette: a document such as `001-GET-products.json` for each call, and its bodies, whose names
/// contain a digest of their contents.
struct CassetteFolder: CassetteSource {
    let url: URL

    var path: String { url.path }

    /// Reads all documents, sorted by number.
    func items() throws -> [CassetteItem] {
        let numbered = try fileNames().compactMap { name in Self.number(ofDocument: name).map { ($0, name) } }
        return try numbered.sorted { $0 < $1 }.map { _, file in
            let name = String(file.dropLast(5))
            return CassetteItem(name: name, document: try document(named: name))
        }
    }

    private func document(named name: String) throws -> CassetteDocument {
        let file = name + ".json"
        do {
            return try CassetteDocument(try read(file))
        } catch let problem as CassetteDocument.Problem {
            throw CassetteError("\(path(file)) \(problem.text); delete it to record the call again")
        }
    }

    func request(of item: CassetteItem, withBody: Bool) throws -> RedactedRequest {
        guard withBody, item.document.requestBody != nil else { return item.document.request }
        return try reading(item) { document in
            var request = document.request
            if let name = document.requestBody { request.body = try read(name) }
            return request
        }
    }

    func outcome(of item: CassetteItem) throws -> RecordedOutcome {
        try reading(item) { document in
            var outcome = RecordedOutcome(response: document.response, failure: document.failure)
            if let name = document.responseBody { outcome.response?.body = try read(name) }
            return outcome
        }
    }

    /// Calls a closure that reads the bodies of a document, and calls it again if another process rerecorded the entry
    /// and removed the old bodies.
    private func reading<Value>(_ item: CassetteItem, read: (CassetteDocument) throws -> Value) throws -> Value {
        var document = item.document
        while true {
            do {
                return try read(document)
            } catch {
                guard let current = try? self.document(named: item.name), current != document else { throw error }
                document = current
            }
        }
    }

    /// The bytes of a file of the folder.
    private func read(_ name: String) throws -> Data {
        let file = url.appendingPathComponent(name)
        guard Self.isPlainName(name), !Self.isLink(file) else {
            throw CassetteError("\(path(name)) is a symbolic link, which cassettes don't follow")
        }
        do throws(AtomicFile.Failure) {
            if let data = try AtomicFile(file).read() { return data }
        } catch {
            throw CassetteError("\(path(name)) can't be read: \(error.message)")
        }
        throw CassetteError("\(path(name)) doesn't exist; delete its document to record the call again")
    }

    /// Writes the bodies of an entry under new names, and then its document. Other processes, even if this one is
    /// killed, therefore find either the complete new entry, the complete old entry, or none.
    ///
    /// - Parameters:
    ///   - item: The item to replace; `nil` for a new one.
    ///   - turn: Determines the number of a new entry.
    func write(
        _ request: RedactedRequest,
        outcome: RecordedOutcome,
        replacing item: CassetteItem?,
        turn: RecordingTurn
    ) throws -> CassetteItem {
        try createFolder()
        let lock = FolderLock(url)
        defer { lock?.release() }
        let files = try fileNames()
        let name = item?.name ?? newName(request, among: files, turn)
        var document = CassetteDocument(method: request.method, url: request.url, requestHeaders: request.headers)
        document.response = outcome.response
        document.response?.body = Data()
        document.failure = outcome.failure
        do {
            document.requestBody = try write(request.body, headers: request.headers, as: name + ".request")
            if let response = outcome.response {
                document.responseBody = try write(response.body, headers: response.headers, as: name + ".response")
            }
            try write(document.json.jsonData(pretty: true) + Data("\n".utf8), as: name + ".json")
        } catch {
            for body in document.bodies where !files.contains(body) { remove(body) }
            throw error
        }
        removeLeftovers(among: files, of: name, keeping: document.bodies)
        return CassetteItem(name: name, document: document)
    }

    /// Writes a body under a name that no file with other contents has.
    private func write(_ body: Data, headers: HTTPHeaders, as name: String) throws -> String? {
        guard !body.isEmpty else { return nil }
        let digest = SHA256Hasher.digest(of: body).prefix(4)
        let digits = digest.hexadecimal
        let suffix = "." + Self.fileExtension(of: body, contentType: headers[.contentType])
        var file = "\(name)-\(digits)\(suffix)"
        var number = 1
        // A body with this name was edited, or its digest starts with the same characters.
        while let other = try? read(file) {
            if other == body { return file }
            number += 1
            file = "\(name)-\(digits)-\(number)\(suffix)"
        }
        try write(body, as: file)
        return file
    }

    private func write(_ data: Data, as name: String) throws {
        let file = url.appendingPathComponent(name)
        // Otherwise, the file would be replaced through the link, which may lead outside the folder.
        if Self.isLink(file) { try? FileManager.default.removeItem(at: file) }
        do throws(AtomicFile.Failure) {
            try AtomicFile(file, isDurable: false).write(data)
        } catch {
            throw CassetteError("\(path(name)) can't be written: \(error.message)")
        }
    }

    private func remove(_ name: String) {
        unlink(path(name))
    }

    /// The age at which a file counts as left over from a killed process. Newer files may still be in use.
    private static let leftoverAge: TimeInterval = 3_600

    /// Removes the previous bodies of the entry, and the leftovers of killed processes, which are bodies without a
    /// document and incomplete files.
    private func removeLeftovers(among files: [String], of name: String, keeping bodies: [String]) {
        let documents = Set(files.filter { Self.number(ofDocument: $0) != nil })
        for file in files where !bodies.contains(file) {
            let entry = Self.entry(ofBody: file)
            let isUnnamed = entry.map { !documents.contains($0 + ".json") } ?? Self.isPart(file)
            if entry == name || (isUnnamed && isLeftover(file)) { remove(file) }
        }
    }

    private func isLeftover(_ file: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(file))
        guard let date = attributes?[.modificationDate] as? Date else { return false }
        return date < Date(timeIntervalSinceNow: -Self.leftoverAge)
    }

    private func createFolder() throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw CassetteError("the cassette's folder \(url.path) can't be created: \(error.localizedDescription)")
        }
    }

    private func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// A lock on a folder, which processes and threads acquire before they choose a new name in it.
private struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Waits for the lock; returns `nil` if the file system doesn't support locks.
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
