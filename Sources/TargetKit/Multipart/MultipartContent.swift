// SPDX-License-Identifier: MIT
import Foundation

/// Where a part's bytes come from.
enum MultipartContent: Sendable, Hashable {
    case data(Data)
    /// A value that could not be encoded, and why.
    case notEncodable(String)
    case file(URL)
    case stream(Stream)

    init(json value: some Encodable, encoder: JSONEncoder?) {
        do {
            self = .data(try (encoder ?? JSONEncoder()).encodeWithSortedKeys(value))
        } catch {
            self = .notEncodable(Self.reason(of: error))
        }
    }

    var isInMemory: Bool {
        switch self {
        case .data, .notEncodable: true
        case .file, .stream: false
        }
    }

    /// Where in the value and why; the value itself is left out, it may be a secret.
    private static func reason(of error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return String(describing: error) }
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "at \(path): \(context.debugDescription)"
    }
}

extension MultipartContent {
    /// A stream with what it is compared by.
    struct Stream: Sendable, Hashable {
        let source: any BodySource
        /// Made with the part, so that a source which says nothing about itself equals at least its own copies.
        private let token = Token()

        init(_ source: any BodySource) {
            self.source = source
        }

        static func == (left: Self, right: Self) -> Bool {
            if let value = left.value, let other = right.value { return value == other }
            if let object = left.object, let other = right.object { return object == other }
            return left.token === right.token
        }

        func hash(into hasher: inout Hasher) {
            if let value {
                hasher.combine(value)
            } else {
                hasher.combine(object ?? ObjectIdentifier(token))
            }
        }

        private var value: AnyHashable? {
            (source as? any Hashable).map { AnyHashable($0) }
        }

        private var object: ObjectIdentifier? {
            // Linux boxes a struct for `as AnyObject`, in a new object each time.
            type(of: source) is AnyClass ? ObjectIdentifier(source as AnyObject) : nil
        }
    }

    private final class Token: Sendable {}
}
