// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// A page that shows calls as a waterfall, grouped by scope and provider, with retries, refreshes, waits, cache hits
/// and failures. It has a filter, shows the header fields and bodies of each request, and compares two requests side by
/// side.
///
/// ```swift
/// let page = try TimelinePage(har: Data(contentsOf: folder.appending(path: "traffic.har")))
/// try page.write(to: folder.appending(path: "traffic.html"))
/// ```
///
/// The page is a self-contained HTML file, so it can be attached to a bug report. It contains everything in the
/// archive. Strings from servers are shown as text, and a content security policy allows only the page's own script.
///
/// It can also show archives of browsers and proxies. `/` focuses the filter, the arrow keys move the selection, Enter
/// opens a request, `c` compares it, and Escape closes it.
public struct TimelinePage: Sendable {
    /// The document, in UTF-8.
    public let html: String

    /// Creates a page that shows an archive.
    ///
    /// - Parameters:
    ///   - har: An HTTP Archive (HAR 1.2), for example the contents of a ``HARFile``.
    ///   - title: The title; default: `Traffic`.
    /// - Throws: A `DecodingError` if the data isn't JSON with the array `log.entries`.
    public init(har: Data, title: String = "Traffic") throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let har = har.starts(with: mark) ? har.dropFirst(mark.count) : har
        let entries: Data?
        do {
            entries = try JSONPath("log.entries").value(in: har)
        } catch DecodingError.keyNotFound {
            entries = nil
        } catch DecodingError.dataCorrupted(let context) {
            throw Self.invalid("the archive isn't JSON", context.underlyingError)
        }
        guard entries?.first == UInt8(ascii: "[") else {
            throw Self.invalid("the JSON isn't an HTTP Archive: it has no array `log.entries`")
        }
        // Prevents `</script>` in a string from ending the element.
        let escaped = har.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
            .joined(separator: Array(#"\u003c"#.utf8))
        html = Self.document(title: title, har: String(decoding: Array(escaped), as: UTF8.self), events: nil)
    }

    private init(html: String) {
        self.html = html
    }

    /// Creates a page that shows entries as they are recorded.
    ///
    /// - Parameters:
    ///   - events: The URL of an event stream whose events are encoded entries (``HAREntry/serverSentEvent``), of type
    ///     `message`. It can be relative to the page. A stream from another origin needs `Access-Control-Allow-Origin`.
    ///     When the page reconnects, the stream can send all entries again, because the page replaces entries that it
    ///     has.
    ///   - title: The title; default: `Traffic`.
    public static func live(events: URL, title: String = "Traffic") -> TimelinePage {
        TimelinePage(html: document(title: title, har: #"{"log":{"entries":[]}}"#, events: events))
    }

    /// Writes the page to a file that only its owner can read, replacing an existing file.
    ///
    /// - Parameter file: A file URL.
    /// - Throws: An error if the file can't be written.
    public func write(to file: URL) throws {
        try AtomicFile(file).write(Data(html.utf8))
    }

    private static func invalid(_ problem: String, _ error: (any Error)? = nil) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: problem, underlyingError: error))
    }

    private static func document(title: String, har: String, events: URL?) -> String {
        let script = [modelScript, listScript, detailsScript, controlScript].joined(separator: "\n")
        let policy = [
            "default-src 'none'", "img-src data:", "style-src '\(digest(of: style))'",
            "script-src '\(digest(of: script))'",
            "connect-src \(events.map(origin) ?? "'none'")", "base-uri 'none'", "form-action 'none'",
        ].joined(separator: "; ")
        let address = events.map { " data-events=\"\(escaped($0.absoluteString))\"" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(escaped(title))</title>
            <style>\(style)</style>
            </head>
            <body\(address)>
            \(markup)
            <script type="application/json" id="har">\(har)</script>
            <script>\(script)</script>
            </body>
            </html>

            """
    }

    /// The source that a content security policy allows (CSP 3 §2.3.1).
    private static func digest(of text: String) -> String {
        "sha256-" + Data(SHA256Hasher.digest(of: Array(text.utf8))).base64EncodedString()
    }

    /// The origin of a URL for a policy, or the page's origin if the URL is relative.
    private static func origin(of url: URL) -> String {
        guard let scheme = url.scheme, let host = url.host(percentEncoded: true) else { return "'self'" }
        let source = "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
        let isPlain = source.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "/"): true
            default: false
            }
        }
        return isPlain ? "'self' \(source)" : "'self'"
    }

    /// Escapes text for an element or an attribute.
    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
    }
}

extension HAREntry {
    /// The entry as a server-sent event, which is a `data` field and an empty line, for a page of
    /// ``TimelinePage/live(events:title:)``.
    public var serverSentEvent: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(self)).map { Data("data: ".utf8) + $0 + Data("\n\n".utf8) } ?? Data()
    }
}
