// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

@Suite("Equal forms", .throttled)
struct MultipartEqualityTests {
    private struct ValueSource: BodySource, Hashable {
        var id: Int
        var length: Int64? { 0 }
        func open() throws -> any BodyReader { try SteppedSource(Data()).open() }
    }

    private static func all() -> [MultipartForm.Part] {
        [
            .text("a", name: "n"), .data(Data([1, 2]), name: "n", fileName: "f"),
            .json(["b": 1, "a": 2, "c": 3], name: "n"),
            .file(URL(fileURLWithPath: "/tmp/a"), name: "n"), .json(Double.nan, name: "n"), .image(Data([3])),
        ]
    }

    @Test("Two forms made alike are equal and hash alike, whatever their boundaries")
    func alike() {
        #expect(MultipartForm(parts: Self.all()) == MultipartForm(parts: Self.all()))
        #expect(MultipartForm(parts: Self.all()).hashValue == MultipartForm(parts: Self.all()).hashValue)
        #expect(MultipartForm(parts: Self.all(), boundary: "A") == MultipartForm(parts: Self.all(), boundary: "B"))
        #expect(Set([MultipartForm(parts: Self.all()), MultipartForm(parts: Self.all())]).count == 1)
    }

    static let different: [(MultipartForm.Part, MultipartForm.Part)] = [
        (.text("a", name: "n"), .text("b", name: "n")), (.text("a", name: "n"), .text("a", name: "m")),
        (.data(Data(), name: "n"), .data(Data(), name: "n", fileName: "")),
        (.data(Data(), name: "n", fileName: "a"), .data(Data(), name: "n", fileName: "b")),
        (.data(Data(), name: "n", mimeType: "a/b"), .data(Data(), name: "n", mimeType: "a/c")),
        (.text("a", name: "n"), .text("a", name: "n", headers: ["X-A": "1"])),
        (.json(1, name: "n"), .json(2, name: "n")),
        (.file(URL(fileURLWithPath: "/tmp/a"), name: "n"), .file(URL(fileURLWithPath: "/etc/a"), name: "n")),
        (.stream(ValueSource(id: 1), name: "n"), .stream(ValueSource(id: 2), name: "n")),
        (.stream(ValueSource(id: 1), name: "n"), .data(Data(), name: "n")),
        (.stream(ValueSource(id: 1), name: "n"), .stream(ValueSource(id: 1), name: "n")),
        (.stream(SteppedSource(Data()), name: "n"), .stream(SteppedSource(Data()), name: "n")),
    ]

    @Test("Forms that differ in what one part sends are not equal", arguments: different)
    func differ(left: MultipartForm.Part, right: MultipartForm.Part) {
        #expect(MultipartForm(parts: [left]) != MultipartForm(parts: [right]))
        #expect(MultipartForm(parts: [left]) == MultipartForm(parts: [left]))
        #expect(MultipartForm(parts: [left, right]) != MultipartForm(parts: [right, left]))
        #expect(MultipartForm(parts: [left]) != MultipartForm(parts: [left, left]))
    }

    @Test("A part with a stream is equal to its copies, and hashes like them")
    func stream() {
        let part = MultipartForm.Part.stream(ValueSource(id: 1), name: "n")
        let copies = [part, part]
        #expect(copies[0] == copies[1])
        #expect(Set(copies).count == 1)
    }
}
