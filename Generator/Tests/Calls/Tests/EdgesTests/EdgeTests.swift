// SPDX-License-Identifier: MIT
import Edges
import Foundation
import TargetKit
import Testing

@Suite("Generated code at its edges")
struct EdgeTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test(
        "A union is decoded as what it was encoded from, with the tag in the JSON",
        arguments: [
            (Shape.circle(Circle(radius: 2)), #"{"kind":"round","radius":2}"#),
            (.square(Square(side: 3)), #"{"kind":"Square","side":3}"#),
            (.path(Path(kind: "path", points: [])), #"{"kind":"path","points":[]}"#),
        ]
    )
    func tags(shape: Shape, text: String) throws {
        #expect(try json(shape) == text)
        let decoded = try JSONDecoder().decode(Shape.self, from: Data(text.utf8))
        #expect(try json(decoded) == text)
    }

    private func request(x: Double = 1, options: Double = 1.5, header: Double? = 2) throws -> URLRequest {
        let target = EdgesAPI.getPoint(
            point: Point(x: x, y: 2),
            options: options,
            near: Point(x: 0.5, y: 0),
            xPoint: header.map { Point(x: $0, y: 2) },
            xJSON: Point(x: 1, y: 2)
        )
        return try Endpoint(target: target).urlRequest()
    }

    @Test("Objects are written into the path, the query and header fields")
    func texts() throws {
        let request = try request()
        #expect(request.url?.absoluteString == "https://edges.example/points/x,1,y,2/1.5?near=x,0.5,y,0")
        #expect(request.value(forHTTPHeaderField: "X-Point") == "x,2,y,2")
        #expect(request.value(forHTTPHeaderField: "X-JSON") == #"{"x":1,"y":2}"#)
    }

    @Test("A value that can't be encoded fails the call, and names the parameter")
    func failures() throws {
        for (name, make) in [
            ("point", { try request(x: .nan) }), ("options", { try request(options: .infinity) }),
            ("X-Point", { try request(header: .nan) }),
        ] {
            let error = #expect(throws: TargetKitError.self) { try make() }
            let cause = try #require(error?.underlying.map { "\($0)" })
            #expect(cause.contains(name), "\(cause)")
        }
    }

    @Test("The media type of an optional body is sent only with the body")
    func mediaType() throws {
        let patch = try Endpoint(target: EdgesAPI.changeShape(Circle(radius: 1))).urlRequest()
        #expect(patch.value(forHTTPHeaderField: "Content-Type") == "application/merge-patch+json")
        let empty = try Endpoint(target: EdgesAPI.changeShape()).urlRequest()
        #expect(empty.value(forHTTPHeaderField: "Content-Type") == nil)
    }
}
