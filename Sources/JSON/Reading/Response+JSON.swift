// SPDX-License-Identifier: MIT
import TargetKit

extension Response {
    /// Parses the JSON of the body.
    ///
    /// - Parameters:
    ///   - keyPath: The key path of the value, for example `data.user` or `items.0`; default `nil`, which means the
    ///     whole body.
    ///   - failsOnEmptyData: Whether an empty body is an error; default `true`. If `false`, an empty body is
    ///     `null`.
    /// - Throws: `TargetKitError` of stage `.decoding`. Its underlying error is a `DecodingError` if there is no
    ///   value at the key path.
    public func json(
        atKeyPath keyPath: String? = nil,
        failsOnEmptyData: Bool = true
    ) throws(TargetKitError) -> JSONValue {
        do {
            if data.isEmpty, !failsOnEmptyData { return .null }
            guard let keyPath, !keyPath.isEmpty else { return try JSONValue(parsing: data) }
            return try JSONValue(parsing: JSONPath(keyPath).value(in: data))
        } catch {
            throw jsonError(error)
        }
    }
}
