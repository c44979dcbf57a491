// SPDX-License-Identifier: MIT

#if canImport(UniformTypeIdentifiers)
import UniformTypeIdentifiers
#endif

/// The media type of a file by its extension.
package enum MIMEType {
    /// The type of unknown files (RFC 7578 §4.4).
    package static let unknown = "application/octet-stream"

    /// The type of the first name with a known extension, compared case-insensitively.
    package static func forFile(named names: String...) -> String {
        for name in names {
            if let type = type(forExtension: fileExtension(of: name)) { return type }
        }
        return unknown
    }

    private static func type(forExtension fileExtension: String) -> String? {
        guard !fileExtension.isEmpty else { return nil }
        if let type = table[fileExtension] { return type }
        #if canImport(UniformTypeIdentifiers)
        // The types that the system and the installed apps declare.
        return UTType(filenameExtension: fileExtension)?.preferredMIMEType
        #else
        return nil
        #endif
    }

    /// The lowercase text after the last dot of the last path component. `.profile` is a name without an extension.
    private static func fileExtension(of name: String) -> String {
        let bytes = name.utf8
        guard let dot = bytes.lastIndex(of: 0x2E), dot != bytes.startIndex else { return "" }
        let tail = bytes[bytes.index(after: dot)...]
        guard bytes[bytes.index(before: dot)] != 0x2F, !tail.contains(0x2F) else { return "" }
        let text = String(decoding: tail, as: UTF8.self)
        return tail.contains { $0 != $0.asciiLowercased } ? text.lowercased() : text
    }

    /// The types of IANA's registry; for others, the types that browsers send.
    private static let table: [String: String] = [
        // Images
        "apng": "image/apng", "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic",
        "heif": "image/heif", "ico": "image/vnd.microsoft.icon", "jfif": "image/jpeg", "jpe": "image/jpeg",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "jxl": "image/jxl", "png": "image/png",
        "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "webp": "image/webp",
        "psd": "image/vnd.adobe.photoshop", "dng": "image/x-adobe-dng",
        // Sound
        "aac": "audio/aac", "aif": "audio/aiff", "aiff": "audio/aiff", "amr": "audio/amr", "flac": "audio/flac",
        "m4a": "audio/mp4", "mid": "audio/midi", "midi": "audio/midi", "mp3": "audio/mpeg", "oga": "audio/ogg",
        "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "weba": "audio/webm",
        // Film
        "3g2": "video/3gpp2", "3gp": "video/3gpp", "avi": "video/x-msvideo", "m4v": "video/x-m4v",
        "mkv": "video/matroska", "mov": "video/quicktime", "mp4": "video/mp4", "mpeg": "video/mpeg",
        "mpg": "video/mpeg", "ogv": "video/ogg", "qt": "video/quicktime", "ts": "video/mp2t", "webm": "video/webm",
        "wmv": "video/x-ms-wmv",
        // Text
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
        "js": "text/javascript", "log": "text/plain", "markdown": "text/markdown", "md": "text/markdown",
        "mjs": "text/javascript", "rtf": "application/rtf", "srt": "application/x-subrip", "text": "text/plain",
        "tsv": "text/tab-separated-values", "txt": "text/plain", "vcf": "text/vcard", "vtt": "text/vtt",
        "xhtml": "application/xhtml+xml", "xml": "application/xml", "yaml": "application/yaml",
        "yml": "application/yaml",
        // Documents
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "eml": "message/rfc822", "epub": "application/epub+zip",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "pdf": "application/pdf", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        // Data and archives
        "7z": "application/x-7z-compressed", "apk": "application/vnd.android.package-archive",
        "bin": "application/octet-stream", "bz2": "application/x-bzip2", "cbor": "application/cbor",
        "geojson": "application/geo+json", "gpx": "application/gpx+xml", "gz": "application/gzip",
        "json": "application/json", "jsonld": "application/ld+json", "ndjson": "application/x-ndjson",
        "p12": "application/x-pkcs12", "rar": "application/vnd.rar", "sqlite": "application/vnd.sqlite3",
        "tar": "application/x-tar", "tgz": "application/gzip", "wasm": "application/wasm",
        "xz": "application/x-xz", "zip": "application/zip", "zst": "application/zstd",
        // Fonts and models
        "glb": "model/gltf-binary", "gltf": "model/gltf+json", "otf": "font/otf", "stl": "model/stl",
        "ttf": "font/ttf", "usdz": "model/vnd.usdz+zip", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
