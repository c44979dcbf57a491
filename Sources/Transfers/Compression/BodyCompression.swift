// SPDX-License-Identifier: MIT
import TargetKit

/// Whether and how a ``BodyCompressionPlugin`` compresses the bodies of requests.
public struct BodyCompression: Sendable, Hashable {
    /// A content coding (RFC 9110 §8.4.1).
    enum Coding: String, Sendable {
        /// RFC 1952.
        case gzip
        /// The zlib format (RFC 1950).
        case deflate
    }

    let coding: Coding?
    let minimumSize: Int

    /// Bodies are sent as they are.
    public static let none = Self(coding: nil, minimumSize: .max)

    /// Bodies are compressed by gzip, which every server understands that understands one coding.
    ///
    /// - Parameter minimumSize: The size in bytes of the smallest body that is compressed; default: 1,024.
    public static func gzip(minimumSize: Int = 1024) -> Self { Self(coding: .gzip, minimumSize: minimumSize) }

    /// Bodies are compressed by deflate, in the zlib format (RFC 9110 §8.4.1.2).
    ///
    /// - Parameter minimumSize: The size in bytes of the smallest body that is compressed; default: 1,024.
    public static func deflate(minimumSize: Int = 1024) -> Self { Self(coding: .deflate, minimumSize: minimumSize) }
}

extension CallOptions {
    /// Whether and how the bodies of the call's requests are compressed; default `nil`, which means as the
    /// `BodyCompressionPlugin` does. Without the plugin, it has no effect.
    public var bodyCompression: BodyCompression? {
        get { self[BodyCompressionKey.self] }
        set { self[BodyCompressionKey.self] = newValue }
    }
}

private enum BodyCompressionKey: CallOptionKey { static let defaultValue: BodyCompression? = nil }
