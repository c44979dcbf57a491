// SPDX-License-Identifier: MIT

/// What the lenient properties have in common: decode, else mend, else say that the default is needed.
enum Mending {
    /// The value that a decoder holds, or what can be made of it; `nil` when the default must stand for it.
    static func value<Value: Decodable>(of type: Value.Type, from decoder: any Decoder) -> Value? {
        guard case .success(let value) = attempt(type, from: decoder) else {
            reportFailure(type, decoder)
            return nil
        }
        return value
    }

    /// The value of a key, or what can be made of it; `nil` when the default must stand for it.
    static func value<Value: Decodable, Key>(
        of type: Value.Type,
        forKey key: Key,
        in container: KeyedDecodingContainer<Key>
    ) -> Value? {
        guard !mendsElements(type) else {
            return decoder(forKey: key, in: container, type).flatMap { value(of: type, from: $0) }
        }
        do {
            // Most values are as they should be, and need no decoder of their own.
            if let value = try container.decodeIfPresent(type, forKey: key) { return value }
            return decoder(forKey: key, in: container, type).flatMap { value(of: type, from: $0) }
        } catch {
            guard let decoder = decoder(forKey: key, in: container, type) else { return nil }
            if let value = mended(type, from: decoder) { return value }
            reportFailure(type, decoder)
            return nil
        }
    }

    /// The value that a decoder holds, or what can be made of it; else why it does not decode.
    static func attempt<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) -> Result<Value, any Error> {
        // An array mends itself element by element; to decode it plainly first would tell the observer twice.
        if mendsElements(type), let value = made(type, from: decoder) { return .success(value) }
        do {
            return .success(try decoder.singleValueContainer().decode(type))
        } catch {
            return mended(type, from: decoder).map { .success($0) } ?? .failure(error)
        }
    }

    /// What can be made of a value that does not decode.
    private static func mended<Value>(_ type: Value.Type, from decoder: any Decoder) -> Value? {
        guard let value = made(type, from: decoder) else { return nil }
        report(.converted, type, decoder)
        return value
    }

    private static func made<Value>(_ type: Value.Type, from decoder: any Decoder) -> Value? {
        // In two steps: for an Optional type, `nil as? Value` would be a value.
        guard let lenient = type as? any LenientDecodable.Type, let made = lenient.mended(from: decoder) else {
            return nil
        }
        return made as? Value
    }

    private static func mendsElements<Value>(_ type: Value.Type) -> Bool {
        let wrapped = (type as? any OptionalType.Type)?.wrapped ?? type
        return wrapped is any ElementMending.Type
    }

    /// The decoder of a key's value; `nil` when there is no such key.
    static func decoder<Value, Key>(
        forKey key: Key,
        in container: KeyedDecodingContainer<Key>,
        _ type: Value.Type
    ) -> (any Decoder)? {
        guard let decoder = try? container.superDecoder(forKey: key) else { return nil }
        guard container.contains(key) else {
            // A missing key is what an Optional means, and no repair.
            if !(type is any OptionalType.Type) { report(.missing, type, decoder) }
            return nil
        }
        return decoder
    }

    /// Says that there is null, or something of another kind.
    static func reportFailure<Value>(_ type: Value.Type, _ decoder: any Decoder) {
        let isNull = (try? decoder.singleValueContainer())?.decodeNil() ?? false
        report(isNull ? .null : .mistyped, type, decoder)
    }

    private static func report<Value>(_ reason: LenientRepair.Reason, _ type: Value.Type, _ decoder: any Decoder) {
        decoder.lenientObserver?.report(LenientRepair(reason, type: "\(type)", codingPath: decoder.codingPath))
    }
}

/// A type of many elements, each of which is mended on its own.
protocol ElementMending {}
extension Array: ElementMending where Element: Decodable {}
extension Set: ElementMending where Element: Decodable {}
extension Dictionary: ElementMending where Key == String, Value: Decodable {}

/// `Optional`, asked for as a type.
private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    static var wrapped: Any.Type { Wrapped.self }
}
