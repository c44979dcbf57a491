// SPDX-License-Identifier: MIT

/// An element that decodes or holds the error: decoding it never throws, so that the ones after it are reached.
struct LossyElement<Element: Decodable>: Decodable {
    let result: Result<Element, any Error>

    init(from decoder: any Decoder) {
        // Through a container, so that the decoder's strategies for dates and data hold.
        result = Result { try decoder.singleValueContainer().decode(Element.self) }
    }

    /// The elements of an array; `nil` when there is no array.
    static func elements(of decoder: any Decoder, mending: Bool) -> (kept: [Element], dropped: [DroppedElement])? {
        guard var container = try? decoder.unkeyedContainer() else { return nil }
        var kept: [Element] = []
        var dropped: [DroppedElement] = []
        kept.reserveCapacity(min(container.count ?? 0, 1_024))
        while !container.isAtEnd {
            let index = container.currentIndex
            switch next(in: &container, mending: mending) {
            case .success(let element): kept.append(element)
            case .failure(let error):
                dropped.append(DroppedElement(position: "\(index)", error: error))
                report(IndexKey(index), decoder)
            }
            // A decoder that cannot pass over what it cannot decode would never end.
            guard container.currentIndex > index else { break }
        }
        return (kept, dropped)
    }

    private static func next(
        in container: inout any UnkeyedDecodingContainer,
        mending: Bool
    ) -> Result<Element, any Error> {
        do {
            if mending { return try container.decode(MendedElement<Element>.self).result }
            return try container.decode(Self.self).result
        } catch {
            _ = try? container.superDecoder()
            return .failure(error)
        }
    }

    /// The values of an object by key, in no particular order; `nil` when there is no object.
    static func members(
        of decoder: any Decoder,
        mending: Bool
    ) -> (kept: [String: Element], dropped: [DroppedElement])? {
        // As a dictionary, since there the decoder leaves the keys as they are, whatever its key strategy.
        guard let container = try? decoder.singleValueContainer() else { return nil }
        let results: [String: Result<Element, any Error>]
        if mending {
            guard let members = try? container.decode([String: MendedElement<Element>].self) else { return nil }
            results = members.mapValues(\.result)
        } else {
            guard let members = try? container.decode([String: Self].self) else { return nil }
            results = members.mapValues(\.result)
        }
        var kept: [String: Element] = [:]
        var dropped: [DroppedElement] = []
        for (key, result) in results {
            switch result {
            case .success(let value): kept[key] = value
            case .failure(let error):
                dropped.append(DroppedElement(position: key, error: error))
                report(JSONPath.PathKey(key), decoder)
            }
        }
        return (kept, dropped)
    }

    static func report(_ key: any CodingKey, _ decoder: any Decoder) {
        decoder.lenientObserver?.report(
            LenientRepair(.dropped, type: "\(Element.self)", codingPath: decoder.codingPath + [key])
        )
    }
}

/// An element that decodes, or is made of what is there, or holds the error.
private struct MendedElement<Element: Decodable>: Decodable {
    let result: Result<Element, any Error>

    init(from decoder: any Decoder) {
        result = Mending.attempt(Element.self, from: decoder)
    }
}
