// SPDX-License-Identifier: MIT

#if canImport(Combine)
import Combine
import Foundation

extension AnyPublisher where Output == Response, Failure == MoyaError {
    /// Publishes responses whose status code is in a range, and otherwise fails.
    public func filter<R: RangeExpression>(statusCodes: R) -> AnyPublisher<Response, MoyaError>
    where R.Bound == Int {
        mapping { try $0.filter(statusCodes: statusCodes) }
    }

    /// Publishes responses with the status code, and otherwise fails.
    public func filter(statusCode: Int) -> AnyPublisher<Response, MoyaError> {
        mapping { try $0.filter(statusCode: statusCode) }
    }

    /// Publishes responses whose status code is in 200 to 299, and otherwise fails.
    public func filterSuccessfulStatusCodes() -> AnyPublisher<Response, MoyaError> {
        mapping { try $0.filterSuccessfulStatusCodes() }
    }

    /// Publishes responses whose status code is in 200 to 399, and otherwise fails.
    public func filterSuccessfulStatusAndRedirectCodes() -> AnyPublisher<Response, MoyaError> {
        mapping { try $0.filterSuccessfulStatusAndRedirectCodes() }
    }

    #if canImport(UIKit) || canImport(AppKit)
    /// Publishes the image in the body.
    public func mapImage() -> AnyPublisher<Image, MoyaError> {
        mapping { try $0.mapImage() }
    }
    #endif

    /// Publishes the JSON value of the body.
    public func mapJSON(failsOnEmptyData: Bool = true) -> AnyPublisher<Any, MoyaError> {
        mapping { try $0.mapJSON(failsOnEmptyData: failsOnEmptyData) }
    }

    /// Publishes the text of the body, or the string at a key path.
    public func mapString(atKeyPath keyPath: String? = nil) -> AnyPublisher<String, MoyaError> {
        mapping { try $0.mapString(atKeyPath: keyPath) }
    }

    /// Publishes the decoded body, or the value at a key path.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) -> AnyPublisher<D, MoyaError> {
        mapping { try $0.map(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData) }
    }

    private func mapping<Value>(_ transform: @escaping (Response) throws -> Value) -> AnyPublisher<Value, MoyaError> {
        tryMap(transform)
            .mapError { $0 as? MoyaError ?? .underlying($0, nil) }
            .eraseToAnyPublisher()
    }
}

extension AnyPublisher where Output == ProgressResponse, Failure == MoyaError {
    /// Publishes the response of the last step.
    public func filterCompleted() -> AnyPublisher<Response, MoyaError> {
        compactMap(\.response).eraseToAnyPublisher()
    }

    /// Publishes the completed fraction of each step except the last.
    public func filterProgress() -> AnyPublisher<Double, MoyaError> {
        filter { !$0.completed }.map(\.progress).eraseToAnyPublisher()
    }
}
#endif
