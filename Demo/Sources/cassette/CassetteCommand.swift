// SPDX-License-Identifier: MIT
import ArgumentParser
import Foundation
import TargetKitTesting

/// Makes a cassette for tests of a browser's or proxy's HTTP Archive.
@main
struct CassetteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cassette",
        abstract: "Makes a cassette for tests of an HTTP Archive (HAR 1.2), without its secrets.",
        discussion: """
            Save the archive with response bodies in a browser's network panel, in a proxy such as Charles, Proxyman \
            or mitmproxy, or with HARPlugin. A test replays the folder with @Test(.replays("shop")), or with \
            CassetteTransport(.replay, folder: folder).

            Cookies, credentials, and values of fields with names such as token, password and session are redacted. \
            Read the files before you commit them. A secret under another name needs --secret.

            cassette traffic.har
            cassette traffic.har --to Fixtures/shop --host shop.example --secret iban
            """
    )

    @Argument(help: "The archive.")
    var archive: String

    @Option(help: ArgumentHelp("The new folder. Without it, the entries are listed.", valueName: "folder"))
    var to: String?

    @Option(help: "Only requests to this host. Can be repeated.")
    var host: [String] = []

    @Option(help: "Only requests whose path begins with this one, for example /v1.")
    var path: String?

    @Option(
        help: ArgumentHelp("A further secret field or header, for example iban. Can be repeated.", valueName: "name")
    )
    var secret: [String] = []

    @Option(help: ArgumentHelp("A field that isn't secret, despite its name. Can be repeated.", valueName: "name"))
    var visible: [String] = []

    @Flag(help: "Redact personal data, such as telephone numbers, too.")
    var personalData = false

    func validate() throws {
        if let path, !path.hasPrefix("/") { throw ValidationError("\(path) isn't a path; write one such as /v1") }
        for host in host where host.contains("/") {
            throw ValidationError("\(host) isn't a host; write one such as shop.example")
        }
    }

    func run() throws {
        let (lines, remarks) = try report()
        for line in lines { print(line) }
        try FileHandle.standardError.write(contentsOf: Data(remarks.map { $0 + "\n" }.joined().utf8))
    }

    /// Lists or converts the entries.
    func report() throws -> (lines: [String], remarks: [String]) {
        let file = URL(filePath: archive)
        let entries = try CassetteTransport(har: file, redaction: redaction).entries
        let included = entries.filter(isIncluded)
        guard !included.isEmpty else { throw ValidationError(nothing(among: entries)) }
        guard let to else { return (included.map(\.description) + ["Write them with --to <folder>."], []) }
        let result = try CassetteTransport.convert(
            har: file,
            to: URL(filePath: to),
            redaction: redaction,
            including: isIncluded
        )
        let count = result.entries.count
        let summary = "\(count) \(count == 1 ? "entry" : "entries") in \(to). Read the files before you commit them."
        return (result.entries.map(\.description) + [summary], result.remarks)
    }

    private var redaction: Redaction {
        var redaction = personalData ? Redaction.personalData : Redaction()
        redaction.secretFields.formUnion(secret)
        redaction.visibleFields.formUnion(visible)
        redaction.headers.secretNames.formUnion(secret.map { HTTPHeaderName(rawValue: $0) })
        return redaction
    }

    private func isIncluded(_ entry: CassetteEntry) -> Bool {
        let url = Address(entry.url)
        let hasHost = host.isEmpty || host.contains { $0.lowercased() == url.host }
        return hasHost && (path.map { url.path.hasPrefix($0) } ?? true)
    }

    private func nothing(among entries: [CassetteEntry]) -> String {
        let hosts = Set(entries.map { Address($0.url).host }).sorted()
        return hosts.isEmpty
            ? "\(archive) has no entry with a response"
            : "no entry of \(archive) matches; its hosts are \(hosts.joined(separator: ", "))"
    }
}

/// The host and the path of a redacted URL, which need not be valid.
private struct Address {
    let host: String
    let path: String

    init(_ url: String) {
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let address = rest.prefix { $0 != "?" }
        let end = address.firstIndex(of: "/") ?? address.endIndex
        host = address[..<end].split(separator: ":").first.map { $0.lowercased() } ?? ""
        path = String(address[end...])
    }
}
