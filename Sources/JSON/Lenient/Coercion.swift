// SPDX-License-Identifier: MIT
import TargetKit

/// Decodes the values of lenient properties, converting them from another type if needed.
enum Coercion {
    /// The value of a decoder, converted if needed; `nil` if the default must be used.
    static func value<Value: Decodable>(of type: Value.Type, from decoder: any Decoder) -> Value? {
        guard case .success(let value) = attempt(type, from: decoder) else {
            reportFailure(type, decoder: decoder)
            return nil
        }
        return value
    }

    /// The value of a key, converted if needed; `nil` if the default must be used.
    static func value<Value: Decodable, Key>(
        of type: Value.Type,
        forKey key: Key,
        in container: KeyedDecodingContainer<Key>
    ) -> Value? {
        guard !coercesElements(type) else {
            return decoder(forKey: key, in: container, type).flatMap { value(of: type, from: $0) }
        }
        do {
            // Most values have the expected type, and need no separate decoder.
            if let value = try container.decodeIfPresent(type, forKey: key) { return value }
            return decoder(forKey: key, in: container, type).flatMap { value(of: type, from: $0) }
        } catch {
            guard let decoder = decoder(forKey: key, in: container, type) else { return nil }
            if let value = converted(type, from: decoder) { return value }
            reportFailure(type, decoder: decoder)
            return nil
        }
    }

    /// The value of a decoder, converted if needed, or the error of decoding it.
    static func attempt<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) -> Result<Value, any Error> {
        // Array elements are converted individually, because decoding the array first would report them twice.
        if coercesElements(type), let value = coerced(type, from: decoder) { return .success(value) }
        do {
            return .success(try decoder.singleValueContainer().decode(type))
        } catch {
            return converted(type, from: decoder).map { .success($0) } ?? .failure(error)
        }
    }

    /// Converts a value from another type, and reports the conversion.
    private static func converted<Value>(_ type: Value.Type, from decoder: any Decoder) -> Value? {
        guard let value = coerced(type, from: decoder) else { return nil }
        report(.converted, type: type, decoder: decoder)
        return value
    }

    /// Converts a value from another type; returns `nil` if that isn't possible.
    static func coerced<Value>(_ type: Value.Type, from decoder: any Decoder) -> Value? {
        // In two steps, because `nil as? Value` is a value if `Value` is an Optional.
        if let type = type as? any Coercible.Type {
            guard let value = type.coerced(from: decoder) else { return nil }
            return value as? Value
        }
        guard let type = type as? any (LenientDecodable & RawRepresentable).Type,
            let value = rawRepresentable(type, from: decoder)
        else { return nil }
        return value as? Value
    }

    /// The case of an enum whose raw value can be converted.
    private static func rawRepresentable<Value: RawRepresentable>(
        _ type: Value.Type,
        from decoder: any Decoder
    ) -> Value? {
        coerced(Value.RawValue.self, from: decoder).flatMap { Value(rawValue: $0) }
    }

    private static func coercesElements<Value>(_ type: Value.Type) -> Bool {
        let wrapped = (type as? any OptionalType.Type)?.wrapped ?? type
        return wrapped is any ElementCoercible.Type
    }

    /// The decoder of a key's value; `nil` if the key is missing.
    static func decoder<Value, Key>(
        forKey key: Key,
        in container: KeyedDecodingContainer<Key>,
        _ type: Value.Type
    ) -> (any Decoder)? {
        guard let decoder = try? container.superDecoder(forKey: key) else { return nil }
        guard container.contains(key) else {
            // An Optional permits a missing key, so that isn't a repair.
            if !(type is any OptionalType.Type) { report(.missing, type: type, decoder: decoder) }
            return nil
        }
        return decoder
    }

    /// Reports that the value is null or has another type.
    static func reportFailure<Value>(_ type: Value.Type, decoder: any Decoder) {
        let isNull = (try? decoder.singleValueContainer())?.decodeNil() ?? false
        report(isNull ? .null : .mistyped, type: type, decoder: decoder)
    }

    private static func report<Value>(_ reason: LenientRepair.Reason, type: Value.Type, decoder: any Decoder) {
        decoder.lenientObserver?(LenientRepair(reason, type: "\(type)", codingPath: decoder.codingPath))
    }
}

/// A type whose elements are converted individually.
protocol ElementCoercible {}
extension Array: ElementCoercible where Element: Decodable {}
extension Set: ElementCoercible where Element: Decodable {}
extension Dictionary: ElementCoercible where Key == String, Value: Decodable {}

/// A marker for `Optional`, for type checks.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}
