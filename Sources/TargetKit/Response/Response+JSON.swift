// SPDX-License-Identifier: MIT
import Foundation

extension Response {
    /// The body's JSON as a dynamic value.
    ///
    /// - Parameters:
    ///   - keyPath: Where the value lies, `data.user` or `items.0` for one; default `nil`: the whole body.
    ///   - emptyBody: What to make of a body without bytes: an error, which is the default, or ``JSONValue/null``.
    ///   - options: How deep and how long the JSON may be.
    /// - Throws: ``TargetKitError`` of stage `.decoding`, whose underlying error is a ``JSONParsingError``, or a `DecodingError`
    ///   when the key path leads nowhere.
    public func json(
        atKeyPath keyPath: String? = nil,
        whenEmpty emptyBody: EmptyBody = .fail,
        options: JSONParsingOptions = JSONParsingOptions()
    ) throws(TargetKitError) -> JSONValue {
        do {
            if data.isEmpty, emptyBody == .emptyValue { return .null }
            guard let keyPath, !keyPath.isEmpty else { return try JSONValue(parsing: data, options: options) }
            return try JSONValue(parsing: JSONPath(keyPath).value(in: data), options: options)
        } catch {
            throw jsonError(error)
        }
    }

    /// Nothing: for a call whose success is all that there is to know, `result.map(\.void)`.
    public var void: Void { () }

    /// The error for a body that is not JSON, or not of the requested shape.
    func jsonError(_ underlying: any Error) -> TargetKitError {
        var error = decodingError(underlying)
        error.unreadable = UnreadableBody(self, underlying)
        return error
    }

    /// The error of a body that is not what was asked for.
    func decodingError(_ underlying: any Error) -> TargetKitError {
        TargetKitError(stage: .decoding, target: target, request: request, response: self, underlying: underlying)
    }
}
