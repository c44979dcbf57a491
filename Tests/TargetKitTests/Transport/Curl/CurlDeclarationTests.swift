// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import TestSupport
import Testing

/// Compares `CTargetKitCurl` with libcurl's own header, which is part of its development package.
@Suite(
    "libcurl's declarations",
    .throttled,
    .enabled(if: CurlHeader.isInstalled, "skipped: <curl/curl.h> is not installed, so there is nothing to compare with")
)
struct CurlDeclarationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("Every number and layout equals the one in <curl/curl.h>", .timeLimit(.minutes(3)))
    func values() throws {
        let values = try String(contentsOf: CurlHeader.declarations.appendingPathComponent("Values.h"), encoding: .utf8)
        let names = CurlHeader.names(in: values)
        #expect(names.count > 110)
        let ours = try printed(names, including: "\"\(CurlHeader.declarations.path)/Values.h\"")
        let theirs = try printed(names, including: "<curl/curl.h>")
        for (mine, original) in zip(ours, theirs) { #expect(mine == original) }
        #expect(ours.count == theirs.count && ours.count == names.count + CurlHeader.layouts.count)
    }

    @Test("Every prototype agrees with <curl/curl.h>", .timeLimit(.minutes(3)))
    func prototypes() throws {
        let source = """
            #define CURL_DISABLE_DEPRECATION
            #define CURL_DISABLE_TYPECHECK
            #include <curl/curl.h>
            #include "\(CurlHeader.declarations.path)/Functions.h"
            """
        // Swift's importer of C defines it, too.
        let messages = try compile(source, arguments: ["-fsyntax-only", "-Wall", "-Werror", "-D_GNU_SOURCE"])
        #expect(messages.isEmpty, "\(messages)")
    }

    @Test("The layout of zlib's stream equals the one in <zlib.h>, if that is installed", .timeLimit(.minutes(3)))
    func zlib() throws {
        guard try compile("#include <zlib.h>", arguments: ["-fsyntax-only"]).isEmpty else { return }
        let members = ["next_in", "avail_in", "next_out", "avail_out", "state", "zalloc", "opaque", "reserved"]
        let checks = members.map { "offsetof(z_stream, \($0)) == offsetof(struct ccurl_z_stream, \($0))" }
        let source = """
            #include <zlib.h>
            #include "\(CurlHeader.declarations.path)/Decoders.h"
            _Static_assert(sizeof(z_stream) == sizeof(struct ccurl_z_stream), "size");
            \(checks.map { "_Static_assert(\($0), \"offset\");" }.joined(separator: "\n"))
            """
        let messages = try compile(source, arguments: ["-fsyntax-only", "-Wall", "-Werror"])
        #expect(messages.isEmpty, "\(messages)")
    }

    /// The output of a program that includes the header: one line for each number and each layout.
    private func printed(_ names: [String], including header: String) throws -> [String] {
        let lines =
            names.map { #"printf("\#($0) %lld\n", (long long)(\#($0)));"# }
            + CurlHeader.layouts.map { #"printf("\#($0) %zu\n", \#($0));"# }
        let source = """
            #define CURL_DISABLE_DEPRECATION
            #include <stdio.h>
            #include <stddef.h>
            #include \(header)
            int main(void) {
            \(lines.joined(separator: "\n"))
            return 0;
            }
            """
        let program = folder.url.appendingPathComponent("values")
        let messages = try compile(source, arguments: ["-o", program.path])
        #expect(messages.isEmpty, "\(messages)")
        let result = try ChildProcess.run(program.path, [])
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func compile(_ source: String, arguments: [String]) throws -> String {
        let file = try folder.file("source.c", Data(source.utf8))
        let result = try ChildProcess.run(CurlHeader.compiler, arguments + [file.path])
        return String(decoding: result.errors, as: UTF8.self)
    }
}

/// libcurl's header, if it is installed, and the comparison with it.
enum CurlHeader {
    /// The folder of `CTargetKitCurl`.
    static let declarations = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../../Sources/CTargetKitCurl").standardizedFileURL

    /// The C compiler included with Swift, or the system's.
    static let compiler: String = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let places = ["clang", "cc"].flatMap { name in folders.map { "\($0)/\(name)" } }
        return places.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "/usr/bin/clang"
    }()

    static let isInstalled: Bool = {
        guard let folder = try? TemporaryFolder(),
            let file = try? folder.file("probe.c", Data("#include <curl/curl.h>".utf8))
        else { return false }
        return (try? ChildProcess.run(compiler, ["-fsyntax-only", file.path]).status) == 0
    }()

    /// Sizes and offsets of whole structures, except the one that libcurl allocates and that has grown.
    static let layouts =
        ["curl_off_t", "curl_socket_t", "CURLcode", "CURLoption", "CURLINFO", "CURLMcode", "CURLMoption", "CURLMSG"]
        .map { "sizeof(\($0))" }
        + ["curl_slist", "curl_blob", "CURLMsg", "curl_sockaddr"].map { "sizeof(struct \($0))" }
        + [
            "curl_slist, data", "curl_slist, next", "curl_blob, data", "curl_blob, len", "curl_blob, flags",
            "CURLMsg, msg", "CURLMsg, easy_handle", "CURLMsg, data", "CURLMsg, data.result",
            "curl_sockaddr, family", "curl_sockaddr, socktype", "curl_sockaddr, protocol", "curl_sockaddr, addrlen",
            "curl_sockaddr, addr", "curl_version_info_data, version", "curl_version_info_data, version_num",
            "curl_version_info_data, features",
        ].map { "offsetof(struct \($0))" }

    /// The names that a header assigns a number, in their order.
    static func names(in header: String) -> [String] {
        header.matches(of: /(?m)^ +(CURL\w+) = [^,]+,$|^#define (CURL\w+) \S+$/)
            .compactMap { ($0.output.1 ?? $0.output.2).map(String.init) }
    }
}
#endif
