// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

/// The parts of a recorded request that patterns compare. Each part is computed once, when a pattern needs it.
package final class RequestParts {
    let request: RecordedRequest

    init(_ request: RecordedRequest) {
        self.request = request
    }

    /// The decoded segments of the URL's path.
    lazy var segments = Self.segments(ofPath: request.url.path(percentEncoded: true))

    /// The decoded segments after the path of the target's base URL; `nil` if the URL isn't below the base URL, or if
    /// the base URL has no path.
    lazy var segmentsBelowBase: ArraySlice<String>? = {
        guard let target = request.target, !(target is URLTarget) else { return nil }
        var base = Self.segments(ofPath: target.baseURL.path(percentEncoded: true))
        if base.last == "" { base.removeLast() }
        guard !base.isEmpty, segments.starts(with: base) else { return nil }
        return segments[base.count...]
    }()

    /// The decoded query items, in order. A `+` is a space.
    lazy var query = FormItem.items(of: request.url.query(percentEncoded: true) ?? "")

    /// The decoded fields of a form in the body, in order.
    lazy var form = FormItem.items(of: request.text)

    /// The JSON in the body; `nil` if it isn't valid JSON.
    lazy var json = try? JSONValue(parsing: request.decodedBody)
}

extension RequestParts {
    /// The decoded segments of an escaped path. The paths `""` and `"/"` have none.
    package static func segments(ofPath path: String) -> [String] {
        let path = path.utf8.first == UInt8(ascii: "/") ? path.dropFirst() : path[...]
        guard !path.isEmpty else { return [] }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { decoded(String($0)) }
    }

    /// The text without percent escapes, or the unchanged text if they aren't UTF-8.
    package static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return text.removingPercentEncoding ?? text
    }
}
