// SPDX-License-Identifier: MIT
import TargetKit

extension CassetteFolder {
    /// The names of all files, including hidden ones; none if there is no folder.
    func fileNames() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: url.path)
        } catch {
            guard FileManager.default.fileExists(atPath: url.path) else { return [] }
            throw CassetteError("the cassette's folder \(url.path) can't be read: \(error.localizedDescription)")
        }
    }

    /// The number of a document such as `001-GET.json`; `nil` for another file, such as a body, whose name has another
    /// dot.
    static func number(ofDocument name: String) -> Int? {
        guard name.hasSuffix(".json"), isPlainName(name),
            name.utf8.firstIndex(of: UInt8(ascii: ".")) == name.utf8.index(name.utf8.endIndex, offsetBy: -5)
        else { return nil }
        return number(of: name)
    }

    /// The number before the first hyphen.
    private static func number(of name: some StringProtocol) -> Int? {
        name.firstIndex(of: "-").flatMap { Int(name[..<$0]) }
    }

    /// The name of the entry to which a body such as `001-GET.response-3f29a01c.json` belongs; `nil` for another file.
    static func entry(ofBody name: String) -> String? {
        guard let dot = name.firstIndex(of: "."), number(of: name[..<dot]) != nil else { return nil }
        let rest = name[name.index(after: dot)...]
        return rest.hasPrefix("request") || rest.hasPrefix("response") ? String(name[..<dot]) : nil
    }

    /// Whether a file is part of an entry that is being written.
    static func isPart(_ name: String) -> Bool {
        name.hasPrefix(".") && name.hasSuffix(".part") && number(of: name.dropFirst()) != nil
    }

    /// Returns the name of a new entry, with an unused number.
    func newName(_ request: RedactedRequest, among files: [String], _ turn: RecordingTurn) -> String {
        Self.name(number: turn.fileNumber(taken: Set(files.compactMap(Self.number(ofDocument:)))), of: request)
    }

    /// The name of an entry, for example `001-GET-products`.
    static func name(number: Int, of request: RedactedRequest) -> String {
        let digits = String(number)
        let slug = slug(request.method + "-" + request.path)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits + "-" + slug
    }

    /// The text with all characters except ASCII letters and digits replaced with single hyphens.
    private static func slug(_ text: String) -> String {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-").prefix(48)
            .trimmingCharacters(in: CharacterSet(charactersIn: "-"))
    }

    /// Whether a name is valid for a visible file in the folder on every file system.
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

    static func isLink(_ file: URL) -> Bool {
        var status = stat()
        return lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// The file name extension for a body, from its type and contents.
    static func fileExtension(of body: Data, contentType: String?) -> String {
        let type = contentType?.mediaType ?? ""
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
