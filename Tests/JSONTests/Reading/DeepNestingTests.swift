// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bodies of 100,000 levels: an error everywhere, and never the end of the thread's stack.
@Suite("Deep nesting", .throttled, .timeLimit(.minutes(2)))
struct DeepNestingTests {
    struct Tree: Decodable {
        var a: [Tree]?
        var b: Int?
    }

    struct Mended: Decodable {
        @Lenient var a: [Int]
        @LossyArray var b: [Int]
        @Lenient var c: [String: Int]
    }

    private static let levels = 100_000

    /// Arrays, objects, and both in turn; the first closed, the others cut off.
    private static let bodies = [
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels),
        String(repeating: #"{"a":"#, count: levels), String(repeating: #"{"a":["#, count: levels / 2),
        String(repeating: #"{"a":["#, count: levels / 2) + String(repeating: "]}", count: levels / 2),
    ]

    @Test("As the body it is an error of stage decoding, which says so in short", arguments: bodies.indices)
    func whole(index: Int) throws {
        let response = Response(statusCode: 200, data: Data(Self.bodies[index].utf8))
        let reads: [(Response) throws -> Void] = [
            { _ = try $0.json() }, { _ = try $0.decode(JSONValue.self) }, { _ = try $0.decode([Tree].self) },
            { _ = try $0.decode(Tree.self) }, { _ = try $0.decode(Mended.self) },
            { _ = try $0.decode([String: Int].self) },
            { _ = try $0.unwrap(Int.self, from: CodeMessageData()) }, { try $0.unwrap(CodeMessageData()) },
            { _ = try $0.unwrap(Int.self, from: CodeMessageData(code: "a.a.0", data: "a.0")) },
        ]
        for read in reads {
            let error = try #require(throws: TargetKitError.self) { try read(response) }
            #expect(error.stage == .decoding)
            #expect(error.description.count < 400)
        }
    }

    @Test("Below a key path, and in an envelope, it is one too", arguments: bodies.indices)
    func below(index: Int) throws {
        let body = #"{"code":0,"x":1,"data":\#(Self.bodies[index])}"#
        let response = Response(statusCode: 200, data: Data(body.utf8))
        let reads: [(Response) throws -> Void] = [
            { _ = try $0.json(atKeyPath: "data") }, { _ = try $0.decode(Tree.self, atKeyPath: "data") },
            { _ = try $0.decode([Tree].self, atKeyPath: "data") },
            { _ = try $0.decode(Mended.self, atKeyPath: "data") }, { _ = try $0.string(atKeyPath: "data") },
            { _ = try $0.unwrap(Tree.self, from: CodeMessageData()) },
            { _ = try $0.unwrap(JSONValue.self, from: CodeMessageData()) },
        ]
        for read in reads {
            let error = try #require(throws: TargetKitError.self) { try read(response) }
            #expect(error.stage == .decoding)
            #expect(error.description.count < 400)
        }
        // What lies beside it is found all the same, unless the body is cut.
        let isClosed = index == 0 || index == 3
        #expect((try? response.json(atKeyPath: "x")) == (isClosed ? 1 : nil))
    }

    @Test("As code or message of an envelope it is no such envelope, as the body of a failed call it says nothing")
    func envelopes() throws {
        let code = Response(statusCode: 200, data: Data(#"{"code":\#(Self.bodies[0])}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try code.unwrap(CodeMessageData()) }
        #expect(error.stage == .decoding)
        let message = Response(statusCode: 200, data: Data(#"{"code":7,"message":\#(Self.bodies[0])}"#.utf8))
        let refused = try #require(throws: TargetKitError.self) { try message.unwrap(CodeMessageData()) }
        #expect((refused.underlying as? ServerDefinedError)?.message == "")
        let failed = Response(statusCode: 500, data: Data(Self.bodies[0].utf8))
        #expect(throws: TargetKitError.self) { try failed.unwrap(CodeMessageData()) }
    }

    @Test("A key path of 100,000 keys is one, too")
    func longPath() throws {
        let response = Response(statusCode: 200, data: Data(Self.bodies[3].utf8))
        let path = String(repeating: "a.0.", count: Self.levels / 2) + "a"
        // Not by `#expect(throws:)`, which takes seconds to look at an error with such a path.
        // Not with typed throws: an array of such functions requires the runtime of macOS 15.
        let reads: [() throws -> Void] = [
            { _ = try response.json(atKeyPath: path) },
            { _ = try response.decode(Tree.self, atKeyPath: path) },
        ]
        for read in reads {
            do {
                try read()
                Issue.record("a value at \(path.count) characters")
            } catch {
                #expect((error as? TargetKitError)?.stage == .decoding)
            }
        }
    }
}
