// SPDX-License-Identifier: MIT

/// The members of a JSON object in their original order, with unique keys.
///
/// Two objects with the same members are equal, regardless of their order. Looking up a key takes constant time.
public struct JSONObject: Sendable, Encodable {
    /// Up to this number of members, a linear search is faster than hashing.
    private static let longestList = 12

    private(set) var members: [(key: String, value: JSONValue)]
    /// The position of each key; `nil` for a small object.
    private var positions: [String: Int]?

    /// Creates an object with members. For duplicate keys, the last value is used.
    init(_ pairs: some Sequence<(key: String, value: JSONValue)>) {
        members = []
        for (key, value) in pairs { self[key] = value }
    }

    /// Creates an object from members with unique keys.
    package init(unique members: [(key: String, value: JSONValue)], positions: [String: Int]?) {
        self.members = members
        self.positions = positions
        if positions == nil { indexIfMany() }
    }

    /// Creates an object that is only written, with any keys, in order.
    init(written members: [(key: String, value: JSONValue)]) {
        self.members = members
    }

    /// The value of a key, or `nil`. Setting `nil` removes the member; a new key is appended.
    public subscript(key: String) -> JSONValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil):
                members.remove(at: position)
                positions = nil
                indexIfMany()
            case (nil, let value?):
                positions?[key] = members.count
                members.append((key, value))
                if positions == nil { indexIfMany() }
            case (nil, nil): break
            }
        }
    }

    /// The keys, in order.
    public var keys: [String] { members.map(\.key) }

    /// The members as an unordered dictionary.
    var dictionary: [String: JSONValue] { Dictionary(members.map { ($0.key, $0.value) }) { _, last in last } }

    private func position(of key: String) -> Int? {
        if let positions { return positions[key] }
        return members.firstIndex { $0.key == key }
    }

    private mutating func indexIfMany() {
        guard members.count > Self.longestList else { return }
        var positions: [String: Int] = [:]
        positions.reserveCapacity(members.count)
        for (position, member) in members.enumerated() { positions[member.key] = position }
        self.positions = positions
    }
}

extension JSONObject: RandomAccessCollection, ExpressibleByDictionaryLiteral {
    /// Creates an object from a literal. For duplicate keys, the last value is used.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.lazy.map { (key: $0, value: $1) })
    }

    /// The first position: 0.
    public var startIndex: Int { 0 }

    /// The number of members.
    public var endIndex: Int { members.count }

    /// The member at a position, which must be one of ``indices``.
    public subscript(position: Int) -> (key: String, value: JSONValue) {
        members[position]
    }
}

extension JSONObject: Hashable {
    /// Whether both objects have equal members, in any order.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        for (position, member) in left.members.enumerated() {
            let other = right.members[position]
            let value = other.key == member.key ? other.value : right[member.key]
            guard value == member.value else { return false }
        }
        return true
    }

    /// Hashes the members regardless of their order. For nested arrays and objects, only the size is hashed.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members {
            var one = Hasher()
            one.combine(member.key)
            member.value.hashSurface(into: &one)
            sum ^= one.finalize()
        }
        hasher.combine(sum)
    }
}
