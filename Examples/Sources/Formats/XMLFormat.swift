// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import XMLCoder

/// Decodes XML documents for the option `\.decoder`.
///
/// XMLCoder's decoder isn't `Sendable`, so one is created for each body.
public struct XMLBodyDecoder: BodyDecoder {
    /// Creates a decoder.
    public init() {}

    /// Decodes a value from a document.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        // By default, XMLCoder also removes the spaces around an entity: "tea &amp; milk" would become "tea &milk".
        let decoder = XMLDecoder(trimValueWhitespaces: false, removeWhitespaceElements: true)
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: data)
    }
}

/// Encodes values as XML documents for `HTTPTask.encoded(_:by:)`.
public struct XMLBodyEncoder: BodyEncoder {
    /// The name of the document's root element.
    let rootKey: String

    /// Creates an encoder.
    public init(rootKey: String) {
        self.rootKey = rootKey
    }

    /// RFC 7303 §9.1.
    public var contentType: String { "application/xml" }

    /// Encodes a value as a document.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let encoder = XMLEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value, withRootKey: rootKey, header: XMLHeader(version: 1, encoding: "UTF-8"))
    }
}
