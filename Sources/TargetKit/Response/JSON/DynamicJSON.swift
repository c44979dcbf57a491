// SPDX-License-Identifier: MIT

/// A type that is JSON without a model, so that it is read without a decoder.
protocol DynamicJSON {
    /// The same value in this type; `nil` when it is of another kind.
    init?(json: JSONValue)
}

extension JSONValue: DynamicJSON {
    init?(json: JSONValue) {
        self = json
    }
}

extension JSONObject: DynamicJSON {
    init?(json: JSONValue) {
        guard let object = json.object else { return nil }
        self = object
    }
}

extension Array: DynamicJSON where Element == JSONValue {
    init?(json: JSONValue) {
        guard let elements = json.array else { return nil }
        self = elements
    }
}

extension Dictionary: DynamicJSON where Key == String, Value == JSONValue {
    init?(json: JSONValue) {
        guard let members = json.dictionary else { return nil }
        self = members
    }
}
