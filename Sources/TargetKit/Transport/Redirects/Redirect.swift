// SPDX-License-Identifier: MIT
import Foundation

/// One step of the way from the URL that was asked for to the one that answered.
public struct Redirect: Sendable, Hashable {
    /// The status code that said so: 301, 302, 303, 307 or 308 (RFC 9110 §15.4).
    public var statusCode: Int
    /// The URL that was asked.
    public var from: URL
    /// The URL that it named.
    public var to: URL

    /// A step.
    public init(statusCode: Int, from: URL, to: URL) {
        self.statusCode = statusCode
        self.from = from
        self.to = to
    }

    /// Whether scheme, host or port change (RFC 9110 §4.3.1): what was meant for one server alone is then left behind.
    public var isCrossOrigin: Bool { from.origin != to.origin }

    /// Whether the way leads from https to http, where everybody can read along.
    public var isDowngrade: Bool { from.origin.first == "https" && to.origin.first == "http" }
}

extension URL {
    fileprivate var origin: [String] {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return [scheme, host()?.lowercased() ?? "", String(port)]
    }
}

extension Redirect: CustomStringConvertible, CustomReflectable {
    /// The status and the URLs, without user, query and fragment, which can contain secrets.
    public var description: String { "\(statusCode) from \(RedactedURL(from)) to \(RedactedURL(to))" }

    /// Reflects only the description, so `dump` shows nothing else.
    public var customMirror: Mirror { Mirror(describing: self) }
}
