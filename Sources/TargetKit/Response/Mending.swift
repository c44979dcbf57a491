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

    /// The value that a decoder holds, or what can be made of it; else why it does not decode.
    static func attempt<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) -> Result<Value, any Error> {
        let lenient = type as? any LenientDecodable.Type
        // An array mends itself element by element; to decode it plainly first would tell the observer twice.
        if mendsElements(type), let value = lenient?.mended(from: decoder) as? Value { return .success(value) }
        do {
            return .success(try decoder.singleValueContainer().decode(type))
        } catch {
            guard let value = lenient?.mended(from: decoder) as? Value else { return .failure(error) }
            report(.converted, type, decoder)
            return .success(value)
        }
    }

    private static func mendsElements<Value>(_ type: Value.Type) -> Bool {
        let wrapped = (type as? any OptionalType.Type)?.wrapped ?? type
        return wrapped is any ElementMending.Type
    }

    /// The property of a key; `nil` when there is none.
    static func property<Property: Decodable, Value, Key>(
        _ valueType: Value.Type,
        of key: Key,
        in container: KeyedDecodingContainer<Key>
    ) -> Property? {
        guard let decoder = try? container.superDecoder(forKey: key) else { return nil }
        guard container.contains(key) else {
            // A missing key is what an Optional means, and no repair.
            if !(valueType is any OptionalType.Type) { report(.missing, valueType, decoder) }
            return nil
        }
        return try? Property(from: decoder)
    }

    /// Says that there is null, or something of another kind.
    static func reportFailure<Value>(_ type: Value.Type, _ decoder: any Decoder) {
        let isNull = (try? decoder.singleValueContainer())?.decodeNil() ?? false
        report(isNull ? .null : .mistyped, type, decoder)
    }

    private static func report<Value>(_ reason: LenientRepair.Reason, _ type: Value.Type, _ decoder: any Decoder) {
        guard let observer = decoder.userInfo[.lenientObserver] as? LenientObserver else { return }
        observer.report(LenientRepair(reason, type: "\(type)", codingPath: decoder.codingPath))
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
