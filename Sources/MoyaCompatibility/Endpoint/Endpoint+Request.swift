// SPDX-License-Identifier: MIT
import TargetKit

extension Endpoint {
    /// Returns the request of the endpoint, without the contents of a file or the parts of a form.
    ///
    /// - Throws: ``MoyaError/requestMapping(_:)`` if the URL isn't valid, ``MoyaError/parameterEncoding(_:)`` if the
    ///   parameters can't be encoded, or ``MoyaError/encodableMapping(_:)`` if an `Encodable` value can't be encoded.
    public func urlRequest() throws -> URLRequest {
        guard let requestURL = URL(escaped: url) else { throw MoyaError.requestMapping(url) }
        var request = URLRequest(url: requestURL)
        request.httpMethod = method.rawValue
        if let httpHeaderFields { request.allHTTPHeaderFields = httpHeaderFields }
        switch task {
        case .requestPlain, .uploadFile, .uploadMultipart, .downloadDestination:
            return request
        case .requestData(let data):
            request.httpBody = data
            return request
        case .requestJSONEncodable(let value):
            return try request.encoding(value, with: JSONEncoder())
        case .requestCustomJSONEncodable(let value, let encoder):
            return try request.encoding(value, with: encoder)
        case .requestParameters(let parameters, let encoding), .downloadParameters(let parameters, let encoding, _):
            return try request.encoding(parameters, by: encoding)
        case .uploadCompositeMultipart(_, let urlParameters):
            return try request.encoding(urlParameters, by: URLEncoding.queryString)
        case .requestCompositeData(let bodyData, let urlParameters):
            request.httpBody = bodyData
            return try request.encoding(urlParameters, by: URLEncoding.queryString)
        case .requestCompositeParameters(let bodyParameters, let bodyEncoding, let urlParameters):
            if let encoding = bodyEncoding as? URLEncoding, encoding.destination != .httpBody {
                throw MoyaError.parameterEncoding(BodyEncodingError())
            }
            return try request.encoding(bodyParameters, by: bodyEncoding)
                .encoding(urlParameters, by: URLEncoding.queryString)
        }
    }
}

/// An error for a composite task whose body encoding writes into the query.
struct BodyEncodingError: LocalizedError {
    var errorDescription: String? {
        "The bodyEncoding of requestCompositeParameters must write into the body, like URLEncoding.httpBody."
    }
}

extension URLRequest {
    fileprivate func encoding(_ value: any Encodable, with encoder: JSONEncoder) throws -> URLRequest {
        var request = self
        do {
            request.httpBody = try encoder.encode(value)
        } catch {
            throw MoyaError.encodableMapping(error)
        }
        request.setContentType("application/json")
        return request
    }

    fileprivate func encoding(_ parameters: Parameters, by encoding: any ParameterEncoding) throws -> URLRequest {
        do {
            return try encoding.encode(self, with: parameters)
        } catch {
            throw MoyaError.parameterEncoding(error)
        }
    }
}
