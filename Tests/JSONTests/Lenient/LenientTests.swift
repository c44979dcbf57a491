// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
@testable import TargetKitJSON
import TestSupport
import Testing

@Suite("Lenient", .throttled)
struct LenientTests {
    enum Status: String, Codable, LenientDecodable {
        case active, unknown
        static let lenientDefault = Status.unknown
    }

    enum Level: Int, Codable, LenientDecodable {
        case low = 1
        case high = 2
        static let lenientDefault = Level.low
    }

    struct Owner: Codable, Hashable { var name: String }

    struct Product: Codable, Hashable {
        @Lenient var id: Int
        @Lenient var name: String
        @Lenient var price: Double
        @Lenient var isNew: Bool
        @Lenient var tags: [String]
        @Lenient var note: String?
        @Lenient var owner: Owner?
        @Lenient var status: Status
        @Lenient var level: Level
        @Lenient var counts: [String: Int]
    }

    static func product(_ json: String, observer: (@Sendable (LenientRepair) -> Void)? = nil) throws -> Product {
        let decoder = JSONDecoder.lenient()
        decoder.lenientObserver = observer
        return try decoder.decode(Product.self, from: Data(json.utf8))
    }

    @Test("What HandyJSON would read is read: numbers in texts, null, and elements of other types")
    func handy() throws {
        struct Model: Codable {
            @Lenient var id: Int
            @Lenient var price: Double
            @LossyArray var tags: [String]
        }
        let model = try JSONDecoder().decode(
            Model.self,
            from: Data(#"{"id":"7","price":null,"tags":[1,"a",null]}"#.utf8)
        )
        #expect(model.id == 7)
        #expect(model.price == 0)
        #expect(model.tags == ["a"])
    }

    @Test("Every property has its default when the object is empty, or all is null, or all is of another kind")
    func defaults() throws {
        let keys = ["id", "name", "price", "isNew", "tags", "note", "owner", "status", "level", "counts"]
        let empty = try Self.product("{}")
        for filler in ["null", #"{"x":[1]}"#, "[[]]"] {
            let members = keys.map { "\"\($0)\":\(filler)" }.joined(separator: ",")
            var product = try Self.product("{\(members)}")
            if filler != "null" { (product.tags, product.counts) = ([], [:]) }
            #expect(product == empty)
        }
        #expect(empty.id == 0)
        #expect(empty.name.isEmpty)
        #expect(!empty.isNew)
        #expect(empty.note == nil)
        #expect(empty.owner == nil)
        #expect(empty.status == .unknown)
        #expect(empty.level == .low)
    }

    @Test(
        "A scalar of another type becomes the property's type where it can",
        arguments: [
            (#"{"id":"12"}"#, 12, "", 0, false), (#"{"id":12.9}"#, 12, "", 0, false),
            (#"{"id":true}"#, 1, "", 0, false),
            (#"{"id":" 12 "}"#, 12, "", 0, false), (#"{"id":"x"}"#, 0, "", 0, false),
            (#"{"id":1e30}"#, 0, "", 0, false),
            (#"{"id":""}"#, 0, "", 0, false), (#"{"name":7}"#, 0, "7", 0, false),
            (#"{"name":1.50}"#, 0, "1.5", 0, false),
            (#"{"name":false}"#, 0, "false", 0, false),
            (#"{"name":12345678901234567890}"#, 0, "12345678901234567890", 0, false),
            (#"{"price":"9.95"}"#, 0, "", 9.95, false), (#"{"price":"9,95"}"#, 0, "", 0, false),
            (#"{"price":true}"#, 0, "", 1, false),
            (#"{"isNew":1}"#, 0, "", 0, true), (#"{"isNew":"true"}"#, 0, "", 0, true),
            (#"{"isNew":"0"}"#, 0, "", 0, false),
            (#"{"isNew":"Yes"}"#, 0, "", 0, true), (#"{"isNew":-1}"#, 0, "", 0, true),
            (#"{"isNew":"maybe"}"#, 0, "", 0, false),
        ]
    )
    func converts(json: String, id: Int, name: String, price: Double, isNew: Bool) throws {
        let product = try Self.product(json)
        #expect(product.id == id)
        #expect(product.name == name)
        #expect(product.price == price)
        #expect(product.isNew == isNew)
    }

    @Test("Optionals, enums, models, arrays and dictionaries are converted by what they contain")
    func mends() throws {
        let product = try Self.product(
            #"""
            {"note":5,"owner":{"name":"Ann"},"status":"active","level":"2",
             "tags":["a",1,true,null,[],"b"],"counts":{"a":"1","b":2,"c":[],"userName":3}}
            """#
        )
        #expect(product.note == "5")
        #expect(product.owner == Owner(name: "Ann"))
        #expect(product.status == .active)
        #expect(product.level == .high)
        #expect(product.tags == ["a", "1", "true", "b"])
        #expect(product.counts == ["a": 1, "b": 2, "userName": 3])
        #expect(try Self.product(#"{"status":"new one","level":3,"owner":{"nickname":"A"}}"#) == Self.product("{}"))
    }

    @Test("Integers of every width, decimals, dates, URLs and JSON values are converted")
    func types() throws {
        struct Model: Codable {
            @Lenient var small: Int8
            @Lenient var tooSmall: UInt8
            @Lenient var large: UInt64
            @Lenient var ratio: Float
            @Lenient var amount: Decimal
            @Lenient var day: Date?
            @Lenient var page: URL?
            @Lenient var any: JSONValue
            @Lenient var ids: Set<Int>
        }
        let json = #"""
            {"small":"-7","tooSmall":"300","large":"18446744073709551615","ratio":"0.5","amount":"0.1",
             "day":"2024-05-06","page":"https://example.com/a","any":{"a":[1]},"ids":["1",1,2,"x"]}
            """#
        let model = try JSONDecoder().decode(Model.self, from: Data(json.utf8))
        #expect(model.small == -7)
        #expect(model.tooSmall == 0)
        #expect(model.large == .max)
        #expect(model.ratio == 0.5)
        #expect(model.amount == Decimal(sign: .plus, exponent: -1, significand: 1))
        #expect(model.day == Date(timeIntervalSince1970: 1_714_953_600))
        #expect(model.page?.absoluteString == "https://example.com/a")
        #expect(model.any == ["a": [1]])
        #expect(model.ids == [1, 2])
    }

    enum PageOne: LenientDefaultProvider { static let lenientDefault = 1 }
    enum Visible: LenientDefaultProvider { static let lenientDefault = true }

    struct Query: Codable, Hashable {
        @LenientDefault<PageOne> var page: Int
        @LenientDefault<Visible> var isVisible: Bool
        @LenientDefault<PageOne> var size = 1
    }

    @Test(
        "A default that is named at the property stands for what is missing, null or mistyped",
        arguments: [
            ("{}", 1, true), (#"{"page":null,"isVisible":null}"#, 1, true), (#"{"page":"x","isVisible":[]}"#, 1, true),
            (#"{"page":"3","isVisible":0}"#, 3, false), (#"{"page":4,"isVisible":false}"#, 4, false),
        ]
    )
    func namedDefaults(json: String, page: Int, isVisible: Bool) throws {
        let query = try JSONDecoder().decode(Query.self, from: Data(json.utf8))
        #expect(query == Query(page: page, isVisible: isVisible))
    }

    @Test("A named default also stands for an element of an array")
    func namedDefaultsOfElements() throws {
        let json = Data(#"["x", 3, {}, "4"]"#.utf8)
        let pages = try JSONDecoder().decode([LenientDefault<PageOne>].self, from: json)
        #expect(pages.map(\.wrappedValue) == [1, 3, 1, 4])
    }

    @Test("Encoding writes plain values and leaves nil out")
    func encoding() throws {
        let product = try Self.product(#"{"id":"7","tags":[1]}"#)
        let json = try JSONValue(encoding: product)
        #expect(
            json == [
                "id": 7, "name": "", "price": 0, "isNew": false, "tags": ["1"], "status": "unknown", "level": 1,
                "counts": [:],
            ]
        )
        #expect(try JSONDecoder().decode(Product.self, from: json.jsonData()) == product)
        #expect(
            try JSONValue(encoding: Query(page: 1, isVisible: true, size: 1)) == [
                "page": 1, "isVisible": true, "size": 1,
            ]
        )
    }

    @Test("Names in snake case are read, and nested models are lenient on their own")
    func snakeCase() throws {
        struct User: Codable {
            @Lenient var userName: String
            @Lenient var bestFriend: Friend?
            @LossyArray var lastLogins: [Date]
        }
        struct Friend: Codable { @Lenient var firstName: String }
        let json = #"{"user_name":5,"best_friend":{"first_name":null},"last_logins":["2024-05-06",0,"never"]}"#
        let user = try JSONDecoder.snakeCase().decode(User.self, from: Data(json.utf8))
        #expect(user.userName == "5")
        #expect(user.bestFriend?.firstName.isEmpty == true)
        #expect(user.lastLogins.map(\.timeIntervalSince1970) == [1_714_953_600, 0])
    }

    @Test("A property list is decoded as leniently as JSON")
    func propertyList() throws {
        let data = try PropertyListEncoder().encode(["id": "7", "name": "a"])
        let product = try PropertyListDecoder().decode(Product.self, from: data)
        #expect(product.id == 7)
        #expect(product.name == "a")
        #expect(product.tags.isEmpty)
    }
}
