// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// Encodes values as `application/x-www-form-urlencoded` text.
public final class URLEncodedFormEncoder {
    /// How the elements of an array are named.
    public typealias ArrayEncoding = URLEncoding.ArrayEncoding
    /// How Boolean values are written.
    public typealias BoolEncoding = URLEncoding.BoolEncoding

    /// How dates are written.
    public enum DateEncoding {
        /// As the date encodes itself: the seconds since the reference date.
        case deferredToDate
        /// The seconds since 1970.
        case secondsSince1970
        /// The milliseconds since 1970.
        case millisecondsSince1970
        /// In the format of RFC 3339.
        case iso8601
        /// By a formatter.
        case formatted(DateFormatter)
    }

    /// How the names of keys are written.
    public enum KeyEncoding: Sendable {
        /// As they are.
        case useDefaultKeys
        /// In snake case: `pageSize` is sent as `page_size`.
        case convertToSnakeCase
    }

    /// How a space is written.
    public enum SpaceEncoding: Sendable {
        /// `%20`.
        case percentEscaped
        /// `+`.
        case plusReplaced
    }

    /// Whether the pairs are sorted by name.
    public let alphabetizeKeyValuePairs: Bool
    /// How the elements of an array are named.
    public let arrayEncoding: ArrayEncoding
    /// How Boolean values are written.
    public let boolEncoding: BoolEncoding
    /// How dates are written.
    public let dateEncoding: DateEncoding
    /// How the names of keys are written.
    public let keyEncoding: KeyEncoding
    /// How a space is written.
    public let spaceEncoding: SpaceEncoding

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - alphabetizeKeyValuePairs: Whether the pairs are sorted by name; default: yes.
    ///   - arrayEncoding: How the elements of an array are named; default: with brackets.
    ///   - boolEncoding: How Boolean values are written; default: as numbers.
    ///   - dateEncoding: How dates are written; default: as they encode themselves.
    ///   - keyEncoding: How the names of keys are written; default: as they are.
    ///   - spaceEncoding: How a space is written; default: escaped.
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
    public func encode(_ value: any Encodable) throws -> String { try encoder.encode(value) }

    /// Returns the bytes of the text of a value.
    ///
    /// - Throws: An error if the value isn't a dictionary or an object, or a property can't be encoded.
    public func encode(_ value: any Encodable) throws -> Data { Data(try encoder.encode(value).utf8) }

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
