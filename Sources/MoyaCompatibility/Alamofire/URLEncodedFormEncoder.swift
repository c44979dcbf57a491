// SPDX-License-Identifier: MIT
import TargetKit

/// Encodes values as `application/x-www-form-urlencoded` text.
public final class URLEncodedFormEncoder {
    /// The naming of array elements.
    public typealias ArrayEncoding = URLEncoding.ArrayEncoding
    /// The representation of Boolean values.
    public typealias BoolEncoding = URLEncoding.BoolEncoding

    /// The representation of dates.
    public enum DateEncoding {
        /// The date's own encoding, which is the number of seconds since the reference date.
        case deferredToDate
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// In the format of RFC 3339.
        case iso8601
        /// The text of a formatter.
        case formatted(DateFormatter)
    }

    /// The representation of keys.
    public enum KeyEncoding: Sendable {
        /// Unchanged.
        case useDefaultKeys
        /// In snake case, for example `page_size` for `pageSize`.
        case convertToSnakeCase
    }

    /// The representation of spaces.
    public enum SpaceEncoding: Sendable {
        /// `%20`.
        case percentEscaped
        /// `+`.
        case plusReplaced
    }

    /// Whether the pairs are sorted by name.
    public let alphabetizeKeyValuePairs: Bool
    /// The naming of array elements.
    public let arrayEncoding: ArrayEncoding
    /// The representation of Boolean values.
    public let boolEncoding: BoolEncoding
    /// The representation of dates.
    public let dateEncoding: DateEncoding
    /// The representation of keys.
    public let keyEncoding: KeyEncoding
    /// The representation of spaces.
    public let spaceEncoding: SpaceEncoding

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - alphabetizeKeyValuePairs: Whether the pairs are sorted by name; default: yes.
    ///   - arrayEncoding: The naming of array elements; default: with brackets.
    ///   - boolEncoding: The representation of Boolean values; default: as numbers.
    ///   - dateEncoding: The representation of dates; default: their own encoding.
    ///   - keyEncoding: The representation of keys; default: unchanged.
    ///   - spaceEncoding: The representation of spaces; default: escaped.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dateEncoding: DateEncoding = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        spaceEncoding: SpaceEncoding = .percentEscaped
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.spaceEncoding = spaceEncoding
    }

    /// Returns the text of a value.
    ///
    /// - Throws: An error if the value isn't a dictionary or an object, or a property can't be encoded.
    public func encode(_ value: any Encodable) throws -> String {
        String(decoding: try encode(value) as Data, as: UTF8.self)
    }

    /// Returns the bytes of the text of a value.
    ///
    /// - Throws: An error if the value isn't a dictionary or an object, or a property can't be encoded.
    public func encode(_ value: any Encodable) throws -> Data { try encoder.encode(value) }

    private var encoder: TargetKit.URLEncodedFormEncoder {
        TargetKit.URLEncodedFormEncoder(
            alphabetizeKeyValuePairs: alphabetizeKeyValuePairs,
            arrayEncoding: arrayEncoding.format,
            boolEncoding: boolEncoding == .numeric ? .numeric : .literal,
            dateEncoding: dateEncoding.format,
            keyEncoding: keyEncoding == .convertToSnakeCase ? .convertToSnakeCase : .useDefaultKeys,
            encodesSpacesAsPlus: spaceEncoding == .plusReplaced
        )
    }
}

extension URLEncodedFormEncoder.ArrayEncoding {
    fileprivate var format: TargetKit.URLEncodedFormEncoder.ArrayEncoding {
        switch self {
        case .brackets: .brackets
        case .noBrackets: .plain
        case .indexInBrackets: .indexed
        }
    }
}

extension URLEncodedFormEncoder.DateEncoding {
    fileprivate var format: TargetKit.URLEncodedFormEncoder.DateEncoding {
        switch self {
        case .deferredToDate: .custom { "\($0.timeIntervalSinceReferenceDate)" }
        case .secondsSince1970: .secondsSince1970
        case .millisecondsSince1970: .millisecondsSince1970
        case .iso8601: .iso8601
        case .formatted(let formatter):
            { [formatter = Unchecked(formatter)] in .custom { formatter.value.string(from: $0) } }()
        }
    }
}
