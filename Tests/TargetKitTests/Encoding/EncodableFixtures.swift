// SPDX-License-Identifier: MIT

import Foundation

enum Suit: String, Encodable { case hearts, spades }
enum Level: Int, Encodable { case low = 1, high = 3 }

struct Whole: Encodable {
    struct Inner: Encodable { var a = "a" }
    var one = "one"
    var two = 2
    var three = true
    var four = [1, 2, 3]
    var five = ["a": "a"]
    var six = ["a": ["b": "b"]]
    var seven = Inner()
}

class Base: Encodable {
    let one = "one"
    let two = 2
    let three = true
}

struct Maybe: Encodable {
    var name: String?
    var age: Int?
}

struct Wrapper: Encodable {
    var inner: Int
}

struct EmptyStruct: Encodable {}

struct AllNil: Encodable {
    var b: Bool?
    var s: String?
    var d: Double?
    var f: Float?
    var i: Int?
    var i8: Int8?
    var i16: Int16?
    var i32: Int32?
    var i64: Int64?
    var u: UInt?
    var u8: UInt8?
    var u16: UInt16?
    var u32: UInt32?
    var u64: UInt64?
    var v: [Int]?
}

/// Keys for values that encode themselves by hand.
enum Keys: String, CodingKey { case a, b, four, five, list, m, name, root }

/// Encodes its superclass into the same encoder.
final class Derived: Base {
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode([1, 2, 3], forKey: .four)
        try container.encode(["a": "a", "b": "b"], forKey: .five)
    }
}

/// Encodes its superclass through `superEncoder()`.
final class InheritingSuper: Base {
    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode("child", forKey: .name)
        try super.encode(to: container.superEncoder())
    }
}

/// Writes one key over again, by every kind of super encoder.
struct SuperKeyed: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode([1, 2, 3], forKey: .four)
        try container.encode(["a": "a", "b": "b"], forKey: .five)
        var plain = container.superEncoder().container(keyedBy: Keys.self)
        try plain.encode("one", forKey: .four)
        var keyed = container.superEncoder(forKey: .four).container(keyedBy: Keys.self)
        try keyed.encode(2, forKey: .five)
        var list = container.nestedUnkeyedContainer(forKey: .four)
        var listed = list.superEncoder().container(keyedBy: Keys.self)
        try listed.encode("one", forKey: .four)
    }
}

/// Holds a super encoder's values as an element of a list that has others.
struct SuperInList: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(1)
        try Base().encode(to: list.superEncoder())
    }
}

/// Writes a place as an object and then as a list, which holds a list, an object and a list of a list.
struct ByHand: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var object = container.nestedContainer(keyedBy: Keys.self, forKey: .root)
        try object.encode(["string": "string"], forKey: .a)
        var list = container.nestedUnkeyedContainer(forKey: .root)
        try list.encode([1, 2, 3])
        var element = list.nestedContainer(keyedBy: Keys.self)
        try element.encode(["string": "string"], forKey: .a)
        var inner = list.nestedUnkeyedContainer()
        try inner.encode([1, 2, 3])
    }
}

/// Writes the same key twice.
struct Twice: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(1, forKey: .a)
        try container.encode(2, forKey: .a)
    }
}

/// Fills one nested object through two containers.
struct Merged: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var first = container.nestedContainer(keyedBy: Keys.self, forKey: .m)
        var second = container.nestedContainer(keyedBy: Keys.self, forKey: .m)
        try second.encode(2, forKey: .b)
        try first.encode(1, forKey: .a)
    }
}

/// Encodes `nil` by hand in a nested object and in a nested list.
struct NilByHand: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var object = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
        try object.encodeNil(forKey: .a)
        var list = container.nestedUnkeyedContainer(forKey: .b)
        try list.encodeNil()
    }
}
