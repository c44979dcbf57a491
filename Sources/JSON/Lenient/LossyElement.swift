// SPDX-License-Identifier: MIT
import TargetKit

/// An element that is decoded or omitted. Decoding it never throws, so that the following elements can be decoded.
struct LossyElement<Element: Decodable>: Decodable {
    let value: Element?

    init(from decoder: any Decoder) {
        // Uses a container, so that the decoder's strategies for dates and data apply.
        value = try? decoder.singleValueContainer().decode(Element.self)
    }

    /// The elements of an array that can be decoded; `nil` if there is no array.
    ///
    /// - Parameter coercing: Whether elements of other types are converted.
    static func elements(of decoder: any Decoder, coercing: Bool) -> [Element]? {
        guard var container = try? decoder.unkeyedContainer() else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(min(container.count ?? 0, 1_024))
        while !container.isAtEnd {
            let index = container.currentIndex
            if let element = next(in: &container, coercing: coercing) {
                elements.append(element)
            } else {
                report(PathKey(index), decoder: decoder)
            }
            // A decoder that can't skip invalid elements would cause an endless loop.
            guard container.currentIndex > index else { break }
        }
        return elements
    }

    private static func next(in container: inout any UnkeyedDecodingContainer, coercing: Bool) -> Element? {
        do {
            if coercing { return try container.decode(CoercedElement<Element>.self).value }
            return try container.decode(Self.self).value
        } catch {
            _ = try? container.superDecoder()
            return nil
        }
    }

    /// The values of an object that can be decoded, by key; `nil` if there is no object.
    ///
    /// - Parameter coercing: Whether values of other types are converted.
    static func members(of decoder: any Decoder, coercing: Bool) -> [String: Element]? {
        // Decoded as a dictionary, because the decoder's key strategy doesn't change its keys.
        guard let container = try? decoder.singleValueContainer() else { return nil }
        let values: [String: Element?]
        if coercing {
            guard let members = try? container.decode([String: CoercedElement<Element>].self) else { return nil }
            values = members.mapValues(\.value)
        } else {
            guard let members = try? container.decode([String: Self].self) else { return nil }
            values = members.mapValues(\.value)
        }
        for (key, value) in values where value == nil { report(PathKey(key), decoder: decoder) }
        return values.compactMapValues { $0 }
    }

    static func report(_ key: any CodingKey, decoder: any Decoder) {
        decoder.lenientObserver?(
            LenientRepair(.dropped, type: "\(Element.self)", codingPath: decoder.codingPath + [key])
        )
    }
}

/// An element that is decoded, converted, or omitted.
private struct CoercedElement<Element: Decodable>: Decodable {
    let value: Element?

    init(from decoder: any Decoder) {
        value = try? Coercion.attempt(Element.self, from: decoder).get()
    }
}
