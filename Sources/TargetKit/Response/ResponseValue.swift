// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What was read out of a response, with the response beside it.
public struct ResponseValue<Value> {
    /// What was read.
    public let value: Value

    /// The response that it was read from.
    public let response: Response

    /// A value beside its response.
    public init(value: Value, response: Response) {
        self.value = value
        self.response = response
    }

    /// Foundation's form of the response's head; `nil` when there is no URL to make it with.
    public var httpResponse: HTTPURLResponse? { response.httpResponse }
}

extension ResponseValue: Sendable where Value: Sendable {}

extension Response {
    /// What is read out of this response, with the response beside it.
    ///
    /// ```swift
    /// let user = try response.withResponse { try $0.decode(User.self) }
    /// cache.store(user.value, tag: user.response.headers[.eTag])
    /// ```
    /// - Parameter read: ``decode(_:atKeyPath:using:whenEmpty:)``, ``json(atKeyPath:whenEmpty:)``,
    ///   ``string(atKeyPath:)``, or whatever makes something of a response.
    /// - Throws: The ``TargetKitError`` that `read` throws; any other error is one of stage `.decoding`.
    public func withResponse<Value>(
        _ read: (Response) throws -> Value
    ) throws(TargetKitError) -> ResponseValue<Value> {
        do {
            return ResponseValue(value: try read(self), response: self)
        } catch let error as TargetKitError {
            throw error
        } catch {
            throw decodingError(error)
        }
    }
}
