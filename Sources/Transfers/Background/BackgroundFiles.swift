// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The files of a background session: request bodies, the data that resumes downloads, and responses that arrived while
/// the app wasn't running.
struct BackgroundFiles: Sendable {
    private struct Head: Codable {
        var status: Int
        var fields: [[String]]
        /// The task whose file contains the body.
        var task: String
    }

    /// The time after which an unused file is removed.
    private static let lifetime: TimeInterval = 7 * 24 * 3600

    private let folder: URL

    /// - Parameter folder: Created if it is missing, with mode 0700, and excluded from backups.
    init(in folder: URL) {
        self.folder = folder
        try? PrivateFolder.create(folder)
        #if canImport(Darwin)
        var folder = folder
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        #endif
    }

    /// Returns the key of a request, which is stable across launches: the identifier of its transfer, or else a digest
    /// of the method, URL, requested range and body. The requests of two users have different keys. A file is identified
    /// by its path relative to the app's container, because the container moves.
    ///
    /// - Parameter isWanted: Called while the body is read; returns whether the key is still needed.
    /// - Returns: `nil` if the key is no longer needed.
    static func key(
        of request: TransportRequest,
        home: String = NSHomeDirectory(),
        while isWanted: () -> Bool = { true }
    ) throws -> String? {
        var hasher = SHA256Hasher()
        if let owner = request.ownerID {
            Data("owner\n\(owner)\n".utf8).withUnsafeBytes { hasher.update($0) }
        }
        if let id = request.transferID {
            Data("transfer\n\(id)".utf8).withUnsafeBytes { hasher.update($0) }
            return hasher.finalize().hexadecimal
        }
        let urlRequest = request.urlRequest
        let fields = ["Range", "Upload-Offset"].map { urlRequest.value(forHTTPHeaderField: $0) ?? "" }
        let line = [urlRequest.httpMethod ?? "GET", urlRequest.url?.absoluteString ?? ""] + fields
        Data((line.joined(separator: "\n") + "\n").utf8).withUnsafeBytes { hasher.update($0) }
        switch request.body {
        case .none: break
        case .file(let url):
            let path = url.path.hasPrefix(home + "/") ? String(url.path.dropFirst(home.count)) : url.path
            Data(path.utf8).withUnsafeBytes { hasher.update($0) }
        case .data, .stream:
            let isComplete = try read(request.body, while: isWanted) { hasher.update($0) }
            guard isComplete else { return nil }
        }
        return hasher.finalize().hexadecimal
    }

    /// Reads a body, and returns whether it was read to the end.
    private static func read(
        _ body: TransportRequest.Body,
        while isWanted: () -> Bool,
        _ receive: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        do {
            try body.source()?.readAll { piece in
                guard isWanted() else { throw CancellationError() }
                try receive(piece)
            }
            return true
        } catch is CancellationError {
            return false
        }
    }
}

// MARK: - The files of a task

extension BackgroundFiles {
    /// A file of a task: `request` for the request's body, `body` for the response's.
    func file(_ kind: String, of task: BackgroundTask.Name) -> URL { folder.appendingPathComponent("\(task).\(kind)") }

    /// A file of a transfer: `head` for its response's head, `resume` for the system's resume data.
    func file(_ kind: String, of transfer: String) -> URL { folder.appendingPathComponent("\(transfer).\(kind)") }

    /// Writes a request's body to the file of a task, and returns whether it was read to the end.
    func write(
        _ body: TransportRequest.Body,
        of task: BackgroundTask.Name,
        while isWanted: () -> Bool
    ) throws -> Bool {
        let file = file("request", of: task)
        let part = try PartialFile(beside: file)
        FileProtection.allowAccessWhileLocked(part.url)
        guard try Self.read(body, while: isWanted, { try part.append($0) }) else { return false }
        try part.move(to: file)
        return true
    }

    /// Moves the request body of a task to the next task of the transfer.
    func moveRequest(of task: BackgroundTask.Name, to next: BackgroundTask.Name) {
        rename(file("request", of: task).path, file("request", of: next).path)
    }

    /// Appends received bytes to the body of a task's response.
    func append(_ data: Data, of task: BackgroundTask.Name) throws {
        let body = file("body", of: task)
        let descriptor = open(body.path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PartialFile.failure(.cannotWriteToFile, url: body) }
        defer { close(descriptor) }
        guard PartialFile.write(data, to: descriptor) else { throw PartialFile.failure(.cannotWriteToFile, url: body) }
    }

    /// Moves a downloaded file to the body of a task's response.
    func move(_ download: URL, of task: BackgroundTask.Name) throws {
        let body = file("body", of: task)
        if rename(download.path, body.path) != 0 { try PartialFile(copying: download, beside: body).move(to: body) }
    }

    /// Removes the files of a task.
    func remove(_ task: BackgroundTask.Name) {
        for kind in ["body", "request"] { unlink(file(kind, of: task).path) }
    }
}

// MARK: - The files of a transfer

extension BackgroundFiles {
    /// Stores the resume data of a download; `nil` removes it.
    func storeResumption(_ data: Data?, of transfer: String) {
        let file = file("resume", of: transfer)
        guard let data else {
            unlink(file.path)
            return
        }
        try? AtomicFile(file).write(data)
    }

    /// Returns and removes the resume data of a download.
    func takeResumption(of transfer: String) -> Data? {
        let file = file("resume", of: transfer)
        defer { unlink(file.path) }
        return try? Data(contentsOf: file)
    }

    /// Stores the head of a response after its body. Until then, the transfer has no response.
    ///
    /// - Parameter isContinued: Whether the system resumed the download itself, so that the head describes only the
    ///   rest of the file.
    func store(_ head: ResponseHead, of task: BackgroundTask.Name, isContinued: Bool = false) throws {
        var head = head
        if isContinued, head.statusCode == 206 {
            head = head.ofWhole(size: FileStatus(of: file("body", of: task))?.size) ?? head
        }
        if let former = storedHead(of: task.transfer), former.task != task.attempt { remove(former, of: task.transfer) }
        let stored = Head(
            status: head.statusCode,
            fields: head.headers.map { [$0.name.rawValue, $0.value] },
            task: task.attempt
        )
        try AtomicFile(file("head", of: task.transfer)).write(JSONEncoder().encode(stored))
    }

    private func storedHead(of transfer: String) -> Head? {
        guard let data = try? AtomicFile(file("head", of: transfer)).read() else { return nil }
        return try? JSONDecoder().decode(Head.self, from: data)
    }

    private func remove(_ head: Head, of transfer: String) {
        unlink(file("head", of: transfer).path)
        unlink(file("body", of: BackgroundTask.Name(transfer: transfer, attempt: head.task)).path)
    }

    /// Moves a response to the destination of a request; returns `nil` if there is none.
    ///
    /// - Throws: A `URLError`. The response remains stored, unless it exceeds the memory limit.
    func take(_ transfer: String, to destination: TransportRequest.Destination) throws -> TransportResponse? {
        guard let stored = storedHead(of: transfer) else { return nil }
        let file = file("body", of: BackgroundTask.Name(transfer: transfer, attempt: stored.task))
        let body: TransportResponse.Body
        do {
            body = try Self.body(in: file, to: destination)
        } catch let error as URLError where error.code == .dataLengthExceedsMaximum {
            remove(stored, of: transfer)
            throw error
        }
        remove(stored, of: transfer)
        let headers = HTTPHeaders(
            stored.fields.compactMap {
                $0.count == 2 ? HTTPHeaders.Field(name: HTTPHeaderName(rawValue: $0[0]), value: $0[1]) : nil
            }
        )
        return TransportResponse(head: ResponseHead(statusCode: stored.status, headers: headers), body: body)
    }

    private static func body(
        in file: URL,
        to destination: TransportRequest.Destination
    ) throws -> TransportResponse.Body {
        switch destination {
        case .memory(let limit):
            guard let size = FileStatus(of: file)?.size else { return .data(Data()) }
            guard size <= Int64(limit) else { throw URLError(.dataLengthExceedsMaximum) }
            return .data(try Data(contentsOf: file))
        case .file(let url):
            if FileStatus(of: file) == nil { try Data().write(to: file) }
            if rename(file.path, url.path) != 0 { try PartialFile(copying: file, beside: url).move(to: url) }
            return .file(url)
        case .stream, .upgrade:
            throw URLError(.unsupportedURL, userInfo: [FailureMark.cannotStream: true])
        }
    }

    /// Removes old files that no call has used.
    func removeOld(now: Date = Date()) {
        let files = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files ?? [] {
            guard let status = FileStatus(of: file, followsLinks: false),
                now.timeIntervalSince1970 - status.modificationTime > Self.lifetime
            else { continue }
            unlink(file.path)
        }
    }
}

extension ResponseHead {
    /// The head of a complete response, made from a 206 response whose body completes the file; `nil` if the file has
    /// another length than the response states.
    fileprivate func ofWhole(size: Int64?) -> ResponseHead? {
        let length = headers[.contentRange].flatMap { ContentRange($0)?.completeLength }
        guard length == nil || length == size else { return nil }
        // The last two are digests of the part (RFC 9530 §2, RFC 1864).
        let ofPart = ["Content-Length", "Content-Range", "Content-Digest", "Content-MD5"].map(
            HTTPHeaderName.init(rawValue:)
        )
        var headers = HTTPHeaders(headers.filter { !ofPart.contains($0.name) })
        if let size { headers.add(.contentLength, value: String(size)) }
        return ResponseHead(statusCode: 200, headers: headers)
    }
}
