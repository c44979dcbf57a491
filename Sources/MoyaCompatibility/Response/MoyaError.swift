// SPDX-License-Identifier: MIT
import Foundation

/// The failure of a call.
public enum MoyaError: Error {
    /// The body isn't an image.
    case imageMapping(Response)
    /// The body isn't JSON, or has no value at the key path.
    case jsonMapping(Response)
    /// The body isn't text, or has no string at the key path.
    case stringMapping(Response)
    /// The body couldn't be decoded.
    case objectMapping(any Error, Response)
    /// An `Encodable` value couldn't be encoded.
    case encodableMapping(any Error)
    /// The status code isn't accepted.
    case statusCode(Response)
    /// Another failure, with the response if there is one. For a call over the network, the error is an ``AFError``.
    case underlying(any Error, Response?)
    /// The endpoint's URL isn't valid.
    case requestMapping(String)
    /// Parameters couldn't be encoded.
    case parameterEncoding(any Error)
}

extension MoyaError {
    /// The response; `nil` if there is none.
    public var response: Response? {
        switch self {
        case .imageMapping(let response), .jsonMapping(let response), .stringMapping(let response),
            .objectMapping(_, let response), .statusCode(let response):
            response
        case .underlying(_, let response): response
        case .encodableMapping, .requestMapping, .parameterEncoding: nil
        }
    }

    /// The error that caused this one; `nil` if there is none.
    var underlyingError: (any Error)? {
        switch self {
        case .objectMapping(let error, _), .encodableMapping(let error), .underlying(let error, _),
            .parameterEncoding(let error):
            error
        case .imageMapping, .jsonMapping, .stringMapping, .statusCode, .requestMapping: nil
        }
    }
}

extension MoyaError: LocalizedError {
    /// A sentence about the failure. It equals Moya's, because apps compare and show it.
    public var errorDescription: String? {
        switch self {
        case .imageMapping: "Failed to map data to an Image."
        case .jsonMapping: "Failed to map data to JSON."
        case .stringMapping: "Failed to map data to a String."
        case .objectMapping: "Failed to map data to a Decodable object."
        case .encodableMapping: "Failed to encode Encodable object into data."
        case .statusCode: "Status code didn't fall within the given range."
        case .underlying(let error, _): error.localizedDescription
        case .requestMapping: "Failed to map Endpoint to a URLRequest."
        case .parameterEncoding(let error):
            "Failed to encode parameters for URLRequest. \(error.localizedDescription)"
        }
    }
}

extension MoyaError: CustomNSError {
    /// The sentence, and the error that caused the failure.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [:]
        userInfo[NSLocalizedDescriptionKey] = errorDescription
        userInfo[NSUnderlyingErrorKey] = underlyingError
        return userInfo
    }
}
