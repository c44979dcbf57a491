// SPDX-License-Identifier: MIT
import TargetKit

/// One of the hosts of a `HostFailoverPlugin`.
package struct HostAddress: Sendable {
    /// The URL in the app's list.
    package let url: URL
    /// The unchanged scheme and authority, for example `https://b.example:8443`.
    private let start: String

    /// Returns `nil` for a URL that isn't http or https, or has no host.
    package init?(_ url: URL) {
        guard ServerOrigin(url) != nil else { return nil }
        self.url = url
        let text = url.absoluteString
        start = String(text[..<Self.endOfAuthority(in: text)])
    }

    /// The URL at this host, with unchanged path and query; `nil` if it has no host to replace.
    package func moving(_ url: URL) -> URL? {
        let text = url.absoluteString
        let end = Self.endOfAuthority(in: text)
        guard end > text.startIndex else { return nil }
        return URL(escaped: start + text[end...])
    }

    /// The start of the path (RFC 3986 §3.2), or of the text if there is no authority.
    private static func endOfAuthority(in text: String) -> String.Index {
        guard let slashes = text.range(of: "://") else { return text.startIndex }
        return text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    }
}

extension HostAddress: ReflectsDescription {
    package var description: String { RedactedURL(url).description }
}

/// Hosts with the same resources, so that a response of one of them is a response of all.
package struct ReplicaHosts: Sendable {
    private let hosts: [HostAddress]

    package init(_ hosts: [HostAddress]) {
        self.hosts = hosts
    }

    /// The URL at the first host, if it is at one of the hosts; otherwise the URL.
    package func canonical(_ url: URL) -> URL {
        let origin = ServerOrigin(url)
        guard let first = hosts.first, hosts.contains(where: { ServerOrigin($0.url) == origin }) else { return url }
        return first.moving(url) ?? url
    }
}

/// The hosts of the plugin that chose the host of the request.
package enum ReplicaHostsKey: RequestContextKey { package typealias Value = ReplicaHosts }
