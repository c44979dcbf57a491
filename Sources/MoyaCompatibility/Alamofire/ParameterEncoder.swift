// SPDX-License-Identifier: MIT
import TargetKit

/// Writes an `Encodable` value into a request.
public protocol ParameterEncoder {
    /// Returns the request with the value.
    ///
    /// - Throws: An error, for example ``AFError/parameterEncoderFailed(reason:)``.
    func encode<Parameters: Encodable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest
}

/// Writes a value as JSON into the body.
public final class JSONParameterEncoder: ParameterEncoder {
    /// An encoder with the default settings.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }
    /// An encoder with line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { JSONParameterEncoder(.prettyPrinted) }
    /// An encoder with sorted keys.
    public static var sortedKeys: JSONParameterEncoder { JSONParameterEncoder(.sortedKeys) }

    /// The encoder of the JSON text.
    public let encoder: JSONEncoder

    /// Creates an encoder.
    ///
    /// - Parameter encoder: The encoder of the JSON text; default: one with the default settings.
    public init(encoder: JSONEncoder = JSONEncoder()) {
        self.encoder = encoder
    }

    private convenience init(_ format: JSONEncoder.OutputFormatting) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = format
        self.init(encoder: encoder)
    }

    /// Returns the request with the value in its body, and the content type `application/json` unless it has one.
    ///
    /// - Throws: ``AFError/parameterEncodingFailed(reason:)`` if the value can't be encoded.
    public func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.httpBody = try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        request.setContentType("application/json")
        return request
    }
}

/// Writes a value into the query, or into a body of the type `application/x-www-form-urlencoded`.
public final class URLEncodedFormParameterEncoder: ParameterEncoder {
    /// The destination of the value.
    public typealias Destination = URLEncoding.Destination

    /// An encoder with the default settings.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// The encoder of the text.
    public let encoder: URLEncodedFormEncoder
    /// The destination of the value.
    public let destination: Destination

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - encoder: The encoder of the text; default: one with the default settings.
    ///   - destination: The destination of the value; default: depends on the method.
    public init(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: Destination = .methodDependent
    ) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Returns the request with the value in its query or body.
    ///
    /// - Throws: ``AFError/parameterEncoderFailed(reason:)`` if the value can't be encoded or the request has no URL.
    public func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else {
            throw AFError.parameterEncoderFailed(reason: .missingRequiredComponent(.url))
        }
        let text: String
        do {
            text = try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        var request = request
        if destination.isQuery(of: request) {
            request.url = url.appending(escapedQuery: text)
        } else {
            request.setContentType("application/x-www-form-urlencoded; charset=utf-8")
            request.httpBody = Data(text.utf8)
        }
        return request
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// A JSON encoder with the default settings.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// A JSON encoder.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// A form encoder with the default settings.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// A form encoder.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
