// SPDX-License-Identifier: MIT

import Foundation
@testable import TargetKit
import TestSupport
import Testing

@Suite("URLEncodedFormEncoder's errors", .throttled)
struct URLEncodedFormEncoderTests {
    private func error(_ value: some Encodable, _ encoder: URLEncodedFormEncoder = .init()) -> (any Error)? {
        do {
            let _: String = try encoder.encode(value)
            return nil
        } catch {
            return error
        }
    }

    @Test("A root without names is an error that says so")
    func roots() {
        let list = ParameterEncodingError(.rootWithoutKeys("an array"))
        let value = ParameterEncodingError(.rootWithoutKeys("a single value"))
        #expect(error([1]) as? ParameterEncodingError == list)
        #expect(error([Int]()) as? ParameterEncodingError == list)
        #expect(error("text") as? ParameterEncodingError == value)
        #expect(error(1) as? ParameterEncodingError == value)
        #expect(error(Date.now) as? ParameterEncodingError == value)
        #expect(error(Suit.hearts) as? ParameterEncodingError == value)
    }

    @Test("A model and a closure replace the options of Alamofire's encoder that are omitted")
    func replacements() throws {
        struct Model: Encodable {
            enum CodingKeys: String, CodingKey {
                case tags
                case city = "address.city"
                case bytes
                case day
                case nothing
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(["a", "b"], forKey: .tags)
                try container.encode("Bath", forKey: .city)
                try container.encode([1, 2] as [UInt8], forKey: .bytes)
                try container.encode(Date(timeIntervalSinceReferenceDate: 60), forKey: .day)
                try container.encode(String?.none ?? "", forKey: .nothing)
            }
        }
        struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let encoder = URLEncodedFormEncoder(
            arrayEncoding: .plain,
            dateEncoding: .custom { "\($0.timeIntervalSinceReferenceDate)" },
            keyEncoding: .custom { path in Name(stringValue: path.last?.stringValue.uppercased() ?? "") },
            encodesSpacesAsPlus: true
        )
        let text: String = try encoder.encode(Model())
        #expect(text == "ADDRESS.CITY=Bath&BYTES=1&BYTES=2&DAY=60.0&NOTHING=&TAGS=a&TAGS=b")
    }

    @Test("A root that is nil has nothing to write")
    func nilRoot() throws {
        let text: String = try URLEncodedFormEncoder().encode(Whole?.none)
        #expect(text.isEmpty)
    }

    @Test("A number that no form can hold is an error with its coding path")
    func notFinite() {
        func expect(_ value: some Encodable, at keyPath: String, line: Int = #line) {
            let expected = ParameterEncodingError(.notFinite, at: keyPath)
            #expect(error(value) as? ParameterEncodingError == expected, "line \(line)")
        }
        expect(["a": Double.nan], at: "a")
        expect(["a": Float.infinity], at: "a")
        expect(["a": ["b": [1, -Double.infinity]]], at: "a[b][1]")
        expect(["a": Decimal.nan], at: "a")
        expect(["a": [Date(timeIntervalSince1970: .nan)]], at: "a[0]")
    }

    @Test("What a rule's closure or the value itself throws reaches the caller unchanged")
    func closures() {
        struct Refused: Error, Equatable {}
        struct Refusing: Encodable { func encode(to encoder: any Encoder) throws { throw Refused() } }
        #expect(error(["d": Date.now], .init(dateEncoding: .custom { _ in throw Refused() })) is Refused)
        #expect(error(["d": Refusing()]) is Refused)
    }

    @Test("A value that holds itself is an error, not an overflow of the stack")
    func cycle() {
        final class Node: Encodable {
            var next: Node?
        }
        let node = Node()
        node.next = node
        #expect((error(node) as? ParameterEncodingError)?.reason == .tooDeep)
        node.next = nil
    }

    @Test("The coding path and the count are those of the place")
    func codingPath() throws {
        struct Probe: Encodable {
            func encode(to encoder: any Encoder) throws {
                var keyed = encoder.container(keyedBy: Keys.self)
                var list = keyed.nestedUnkeyedContainer(forKey: .list)
                try list.encode("x")
                let inner = list.nestedContainer(keyedBy: Keys.self)
                #expect(list.count == 2)
                #expect(inner.codingPath.map(\.stringValue) == ["list", "1"])
                #expect(inner.codingPath.map(\.intValue) == [nil, 1])
                #expect(encoder.codingPath.isEmpty)
            }
        }
        let text: String = try URLEncodedFormEncoder().encode(Probe())
        #expect(text == "list%5B%5D=x")
    }

    @Test("A dictionary reads the same by either road")
    func sameAsURLEncoding() throws {
        let parameters = ["b": [1.0, 2.5], "a b": [-0.5]]
        let text: String = try URLEncodedFormEncoder().encode(parameters)
        #expect(try URLEncoding().queryString(parameters) == text)
    }
}
