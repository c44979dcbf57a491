// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("MIME types by extension", .throttled)
struct MIMETypeTests {
    /// From IANA's registry of media types; those without an entry there from the MIME sniffing standard or its users.
    static let types: [(String, String)] = [
        ("a.jpg", "image/jpeg"), ("a.jpeg", "image/jpeg"), ("a.JPG", "image/jpeg"), ("a.JpEg", "image/jpeg"),
        ("a.png", "image/png"), ("a.gif", "image/gif"), ("a.webp", "image/webp"), ("a.heic", "image/heic"),
        ("a.heif", "image/heif"), ("a.avif", "image/avif"), ("a.svg", "image/svg+xml"), ("a.bmp", "image/bmp"),
        ("a.tiff", "image/tiff"), ("a.tif", "image/tiff"), ("a.ico", "image/vnd.microsoft.icon"),
        ("a.jxl", "image/jxl"), ("a.apng", "image/apng"), ("a.mp3", "audio/mpeg"), ("a.m4a", "audio/mp4"),
        ("a.aac", "audio/aac"), ("a.wav", "audio/wav"), ("a.flac", "audio/flac"), ("a.ogg", "audio/ogg"),
        ("a.opus", "audio/ogg"), ("a.amr", "audio/amr"), ("a.mid", "audio/midi"), ("a.mp4", "video/mp4"),
        ("a.m4v", "video/x-m4v"), ("a.mov", "video/quicktime"), ("a.webm", "video/webm"), ("a.mpeg", "video/mpeg"),
        ("a.mkv", "video/matroska"), ("a.avi", "video/x-msvideo"), ("a.3gp", "video/3gpp"), ("a.ts", "video/mp2t"),
        ("a.txt", "text/plain"), ("a.TXT", "text/plain"), ("a.text", "text/plain"), ("a.log", "text/plain"),
        ("a.html", "text/html"), ("a.htm", "text/html"), ("a.css", "text/css"), ("a.js", "text/javascript"),
        ("a.mjs", "text/javascript"), ("a.csv", "text/csv"), ("a.tsv", "text/tab-separated-values"),
        ("a.md", "text/markdown"), ("a.ics", "text/calendar"), ("a.vcf", "text/vcard"), ("a.vtt", "text/vtt"),
        ("a.rtf", "application/rtf"), ("a.xml", "application/xml"), ("a.yaml", "application/yaml"),
        ("a.yml", "application/yaml"), ("a.json", "application/json"), ("a.geojson", "application/geo+json"),
        ("a.pdf", "application/pdf"), ("a.PDF", "application/pdf"), ("a.doc", "application/msword"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.xls", "application/vnd.ms-excel"),
        ("a.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("a.ppt", "application/vnd.ms-powerpoint"),
        ("a.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        ("a.odt", "application/vnd.oasis.opendocument.text"), ("a.epub", "application/epub+zip"),
        ("a.eml", "message/rfc822"), ("a.zip", "application/zip"), ("a.gz", "application/gzip"),
        ("a.tar.gz", "application/gzip"), ("a.tgz", "application/gzip"), ("a.tar", "application/x-tar"),
        ("a.bz2", "application/x-bzip2"), ("a.7z", "application/x-7z-compressed"), ("a.rar", "application/vnd.rar"),
        ("a.zst", "application/zstd"), ("a.apk", "application/vnd.android.package-archive"),
        ("a.wasm", "application/wasm"), ("a.bin", "application/octet-stream"), ("a.ttf", "font/ttf"),
        ("a.otf", "font/otf"), ("a.woff", "font/woff"), ("a.woff2", "font/woff2"), ("a.glb", "model/gltf-binary"),
        ("a.usdz", "model/vnd.usdz+zip"),
        ("汉字.png", "image/png"), ("a b.png", "image/png"), ("a.b.c.png", "image/png"), ("..png", "image/png"),
        ("dir.txt/a.png", "image/png"), ("", "application/octet-stream"), (".", "application/octet-stream"),
        ("..", "application/octet-stream"), ("a", "application/octet-stream"), ("a.", "application/octet-stream"),
        (".png", "application/octet-stream"), ("dir.png/a", "application/octet-stream"),
        ("a.no-such-extension", "application/octet-stream"), ("a.png ", "application/octet-stream"),
        ("a.汉字", "application/octet-stream"), ("a.png\"", "application/octet-stream"),
    ]

    @Test("Data with a file name has the type of its extension", arguments: types)
    func data(fileName: String, type: String) {
        #expect(MultipartForm.Part.data(Data(), name: "n", fileName: fileName).mimeType == type)
        #expect(MultipartForm.Part.stream(SteppedSource(Data()), name: "n", fileName: fileName).mimeType == type)
    }

    static let files: [(String, String?, String?, String, String)] = [
        ("a.png", nil, nil, "a.png", "image/png"), ("a.png", "b.gif", nil, "b.gif", "image/png"),
        ("upload-17", "b.gif", nil, "b.gif", "image/gif"), ("a.tmp-x", "b.gif", nil, "b.gif", "image/gif"),
        ("upload-17", nil, nil, "upload-17", "application/octet-stream"), ("a.png", nil, "image/x", "a.png", "image/x"),
        ("a.png", "", nil, "", "image/png"), ("汉字 1.pdf", nil, nil, "汉字 1.pdf", "application/pdf"),
        ("100%.txt", nil, nil, "100%.txt", "text/plain"), ("a#b?.csv", nil, nil, "a#b?.csv", "text/csv"),
    ]

    @Test("A file has its own name and the type of its extension, else of the given name", arguments: files)
    func file(path: String, given: String?, type: String?, fileName: String, mimeType: String) {
        let url = URL(fileURLWithPath: "/tmp/folder.zip/\(path)")
        let part = MultipartForm.Part.file(url, name: "n", fileName: given, mimeType: type)
        #expect(part.fileName == fileName)
        #expect(part.mimeType == mimeType)
    }

    @Test("Data without a file name, and text, name no type; JSON names its own")
    func withoutFileName() {
        #expect(MultipartForm.Part.data(Data(), name: "a.png").mimeType == nil)
        #expect(MultipartForm.Part.text("", name: "a.png").mimeType == nil)
        #expect(MultipartForm.Part.stream(SteppedSource(Data()), name: "a.png").mimeType == nil)
        #expect(MultipartForm.Part.json(1, name: "n").mimeType == "application/json")
        #expect(
            MultipartForm.Part.json(1, name: "n", mimeType: "application/problem+json").mimeType
                == "application/problem+json"
        )
    }
}
