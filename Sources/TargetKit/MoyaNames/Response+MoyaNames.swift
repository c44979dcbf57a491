// SPDX-License-Identifier: MIT

extension Response {
    /// Moya's name; use ``decode(_:atKeyPath:using:failsOnEmptyData:)``.
    @available(*, unavailable, renamed: "decode(_:atKeyPath:using:failsOnEmptyData:)")
    public func map<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws -> Value {
        try decode(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData)
    }

    /// Moya's name; use `json()` of TargetKitJSON.
    @available(*, unavailable, message: "import TargetKitJSON and use json(), which returns a JSONValue")
    public func mapJSON(failsOnEmptyData: Bool = true) throws -> Any { data }

    /// Moya's name; use ``string(atKeyPath:)``.
    @available(*, unavailable, renamed: "string(atKeyPath:)")
    public func mapString(atKeyPath keyPath: String? = nil) throws -> String { try string(atKeyPath: keyPath) }

    /// Moya's name; use `image()`.
    @available(*, unavailable, message: "use image(), on Apple's systems")
    public func mapImage() throws -> Any { data }

    /// Moya's name; 200 to 299 are the successes by default.
    @available(*, unavailable, message: "200 to 299 are the successes by default; otherwise use filter(.successCodes)")
    public func filterSuccessfulStatusCodes() throws -> Response { try filter(.successCodes) }

    /// Moya's name; set ``TargetType/validation``.
    @available(*, unavailable, message: "set the target's validation, or use filter(.codes(200...399))")
    public func filterSuccessfulStatusAndRedirectCodes() throws -> Response { try filter(.codes(200...399)) }

    /// Moya's name; use ``filter(_:)``.
    @available(*, unavailable, message: "use filter(.codes(…))")
    public func filter(statusCodes: some Sequence<Int>) throws -> Response { try filter(.codes(statusCodes)) }

    /// Moya's name; use ``filter(_:)``.
    @available(*, unavailable, message: "use filter(.codes([…]))")
    public func filter(statusCode: Int) throws -> Response { try filter(.codes([statusCode])) }
}
