// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request as a command for a POSIX shell that sends the same with curl, secrets left out.
///
/// A body that is binary, longer than the limit, or read as it is sent, stands as `@body`: a file to be put in by hand.
struct CurlCommand {
    let request: URLRequest
    let body: LogBody
    /// Whether the request has a body that its `URLRequest` does not contain.
    let isBodyElsewhere: Bool

    init(_ request: URLRequest, _ body: LogBody, _ context: RequestContext) {
        self.request = request
        self.body = body
        isBodyElsewhere = context.isBodyReadAsItIsSent
    }

    var text: String {
        let url = request.url?.absoluteString ?? ""
        let method = request.httpMethod ?? "GET"
        var words = ["curl"]
        // curl would wait for the body of a HEAD that is only named, and takes brackets and braces of a URL for
        // patterns.
        if method == "HEAD" { words.append("--head") } else if method != "GET" { words += ["-X", Self.quoted(method)] }
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        words.append(Self.quoted(body.redaction.url(url)))
        let fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            let value = body.redaction.header(value, name: name)
            words += ["-H", Self.quoted(value.isEmpty ? name + ";" : "\(name): \(value)")]
        }
        words += bodyWords(contentType: request.value(forHTTPHeaderField: "Content-Type"))
        return words.joined(separator: " ")
    }

    private func bodyWords(contentType: String?) -> [String] {
        // curl names a type of its own for a body whose type is not said.
        let type = contentType == nil ? ["-H", Self.quoted("Content-Type:")] : []
        guard let data = request.httpBody else {
            return isBodyElsewhere ? ["--data-binary", "@body"] : []
        }
        return switch body.text(of: data, contentType: contentType) {
        case nil: []
        case .whole(let text): type + ["--data-raw", Self.quoted(text)]
        case .cut, .summary: type + ["--data-binary", "@body"]
        }
    }

    /// One word for a POSIX shell: nothing is special between single quotes but the quote itself.
    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
