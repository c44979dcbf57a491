// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitDiagnostics
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("Timeline page", .throttled, .timeLimit(.minutes(2)))
struct TimelinePageTests {
    private let empty = Data(#"{"log":{"entries":[]}}"#.utf8)

    @Test("The page loads nothing, and runs only its own script")
    func policy() throws {
        let html = try TimelinePage(har: empty).html
        #expect(html.contains("default-src 'none'; img-src data:; style-src 'sha256-"))
        #expect(html.contains("connect-src 'none'; base-uri 'none'; form-action 'none'"))
        #expect(!html.contains("unsafe-inline"))
        for word in ["http://", "https://", " src=", "@import", "innerHTML", "eval("] { #expect(!html.contains(word)) }
    }

    @Test(
        "No text of an archive ends the element that it is in",
        arguments: ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "\u{2028}</SCRIPT >"]
    )
    func hostile(text: String) throws {
        let har = try JSONEncoder().encode(["log": ["entries": [text]]])
        let html = try TimelinePage(har: har, title: text).html
        let body = try #require(html.components(separatedBy: "id=\"har\">").last)
        let content = try #require(body.components(separatedBy: "</script>").first)
        #expect(try JSONValue(parsing: Data(content.utf8))["log"]["entries"][0].string == text)
        #expect(html.components(separatedBy: "<script").count == 3)
    }

    @Test(
        "What isn't an archive is refused",
        arguments: ["", "tea", "{}", "[]", #"{"log":{}}"#, #"{"log":{"entries":{}}}"#, "{\"log\":{\"entries\":["]
    )
    func invalid(text: String) {
        #expect(throws: DecodingError.self) { try TimelinePage(har: Data(text.utf8)) }
    }

    @Test("A byte order mark is not part of the archive")
    func byteOrderMark() throws {
        #expect(try TimelinePage(har: Data([0xEF, 0xBB, 0xBF]) + empty).html == TimelinePage(har: empty).html)
    }

    @Test(
        "A live page connects to its events only",
        arguments: [
            ("http://127.0.0.1:8080/events?a=1&b=2", "'self' http://127.0.0.1:8080", "?a=1&amp;b=2\""),
            ("/events", "'self'", "data-events=\"/events\""),
            ("https://a;b/%22", "'self'", "/%22\""),
        ]
    )
    func live(address: String, source: String, attribute: String) throws {
        let html = TimelinePage.live(events: try #require(URL(string: address))).html
        #expect(html.contains("connect-src \(source); base-uri"))
        #expect(html.contains(attribute))
    }

    @Test("The page is written to a file")
    func written() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("traffic.html")
        let page = try TimelinePage(har: empty)
        try page.write(to: file)
        #expect(try Data(contentsOf: file) == Data(page.html.utf8))
        #expect(throws: (any Error).self) { try page.write(to: URL(filePath: "/dev/null/a")) }
    }

    @Test("An entry is one server-sent event")
    func event() async throws {
        let events = Recorder<Data>()
        let traffic = HARPlugin { events.append($0.serverSentEvent) }
        let sample = SampleResponse.response(status: 200, data: Data("a\n\nb".utf8))
        _ = try await Provider<PluginTarget>.stubbed(traffic).request(PluginTarget(sampleResponse: sample))
        let text = String(decoding: events.elements.first ?? Data(), as: UTF8.self)
        #expect(text.hasPrefix("data: {"))
        #expect(text.hasSuffix("}\n\n"))
        #expect(text.count { $0 == "\n" } == 2)
    }

    /// The pages that `Tests/Timeline/check.py` opens in a browser.
    @Test("Pages for a browser", .enabled(if: folderForBrowser != nil))
    func pages() throws {
        let folder = URL(filePath: try #require(Self.folderForBrowser))
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            guard file.pathExtension == "har" else { continue }
            let page = file.deletingPathExtension().appendingPathExtension("html")
            try TimelinePage(har: Data(contentsOf: file)).write(to: page)
        }
        let events = try #require(URL(string: "/events"))
        try TimelinePage.live(events: events).write(to: folder.appending(path: "live.html"))
    }

    private static let folderForBrowser = ProcessInfo.processInfo.environment["TARGETKIT_TIMELINE"]
}
