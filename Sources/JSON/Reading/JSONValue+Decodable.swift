// SPDX-License-Identifier: MIT
import TargetKit

extension JSONValue: Decodable {
    /// Decodes a value from any format.
    ///
    /// Numbers are decoded as `Int64`, `UInt64`, `Decimal` or `Double`, in this order. The decoder's key strategy isn't
    /// applied, and the order of keys is lost. For JSON text, `init(parsing:)` is much faster, and exact.
    ///
    /// - Throws: `DecodingError` if the value can't be represented as JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(JSONNumber.self) {
            self = .number(number)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode(JSONObject.self))
        }
    }
}

extension JSONNumber: Decodable {
    /// Decodes a number from any format, as `Int64`, `UInt64`, `Decimal` or `Double`, in this order.
    ///
    /// - Throws: `DecodingError` if the value isn't a number, or is NaN or infinite.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self.init(.signed(number))
        } else if let number = try? container.decode(UInt64.self) {
            self.init(.unsigned(number))
        } else if let decimal = try? container.decode(Decimal.self), case .number(let number) = JSONValue(decimal) {
            self = number
        } else if case .number(let number) = JSONValue(try container.decode(Double.self)) {
            self = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON can't represent the number.")
        }
    }
}

extension JSONObject: Decodable {
    /// Decodes an object from any format, in unspecified order.
    ///
    /// - Throws: `DecodingError` if the value isn't an object.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.singleValueContainer().decode([String: JSONValue].self)
        self = members.reduce(into: [:]) { $0[$1.key] = $1.value }
    }
}

// A linker drops an object file of an archive that has nothing but conformances. These stand beside those to `Decodable`,
// which each program that reads such values refers to.

extension JSONValue: ReadFromBody {
    package static func read(_ body: Data) throws -> JSONValue? { try JSONValue(parsing: body) }
}

extension JSONObject: ReadFromBody {
    package static func read(_ body: Data) throws -> JSONObject? { try JSONValue(parsing: body).object }
}

extension Array: ReadFromBody where Element == JSONValue {
    package static func read(_ body: Data) throws -> [JSONValue]? { try JSONValue(parsing: body).array }
}

extension Dictionary: ReadFromBody where Key == String, Value == JSONValue {
    package static func read(_ body: Data) throws -> [String: JSONValue]? { try JSONValue(parsing: body).dictionary }
}
