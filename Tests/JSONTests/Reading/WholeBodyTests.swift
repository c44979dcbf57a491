// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What reads a part of a body reads no body that isn't JSON to its end (RFC 8259).
@Suite("The whole body is JSON", .throttled, .timeLimit(.minutes(2)))
struct WholeBodyTests {
    private struct User: Decodable, Equatable { var id: Int }

    private static func response(_ body: some Sequence<UInt8>) -> Response {
        Response(statusCode: 200, data: Data(body), headers: ["Content-Type": "application/json"])
    }

    /// The errors of each way of reading the value at `data` or the envelope, of which there must be one each.
    private static func errors(_ response: Response) -> [TargetKitError?] {
        func error(_ read: () throws -> Void) -> TargetKitError? {
            do { try read() } catch { return error as? TargetKitError }
            return nil
        }
        return [
            error { _ = try response.decode(User?.self, atKeyPath: "data") },
            error { _ = try response.decode(JSONValue.self, atKeyPath: "data") },
            error { _ = try response.json(atKeyPath: "data") },
            error { _ = try response.json(atKeyPath: "missing") },
            error { _ = try response.string(atKeyPath: "text") },
            error { _ = try response.unwrap(User?.self, from: CodeMessageData()) },
            error { _ = try response.unwrap(User?.self, from: CodeMessageData(acceptsMissingCode: true)) },
            error { try response.unwrap(CodeMessageData()) },
        ]
    }

    @Test("A body that is cut at any byte is an error that says where, for each reader")
    func cut() {
        let body = Data(#"{"text":"é\n","code":0,"data":{"id":7,"n":-12.5e3},"list":[true,null,{}]}"#.utf8)
        #expect(
            Self.errors(Self.response(body)).map { $0 == nil } == [true, true, true, false, true, true, true, true]
        )
        for count in 1..<body.count {
            for (reader, error) in Self.errors(Self.response(body.prefix(count))).enumerated() {
                guard let error, error.stage == .decoding, error.description.contains("is invalid at byte") else {
                    Issue.record("reader \(reader), \(count) bytes: \(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test(
        "Numbers, texts and fields that are cut are not read as shorter ones",
        arguments: [
            (#"{"code":0,"data":{"balance":123"#, "byte 31: expected a comma or the end of the object"),
            (#"{"code":0,"message":"ok""#, "byte 24: expected a comma or the end of the object"),
            (#"{"code":0 "data":{"id":7}}"#, "byte 10: expected a comma or the end of the object"),
            (#"{"code":0,"data:{"id":7}}"#, "byte 18: expected a colon"),
            (#"{"code":0,"data":{"id":7}}{"#, "byte 26: expected nothing more"),
            (#"{"code":0,"data":{"id":7},}"#, "byte 26: expected a key in quotes"),
            (#"{"code":0,"x":01,"data":{"id":7}}"#, "byte 15: expected a comma or the end of the object"),
            (#"{"code":0,"x":tru,"data":{"id":7}}"#, "byte 14: expected a value"),
            (#"{"code":0,"data":{"id":7},"x":"\q"}"#, "byte 32: expected a valid escape"),
        ]
    )
    func examples(body: String, words: String) {
        for error in Self.errors(Self.response(body.utf8)) {
            #expect(error?.stage == .decoding)
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test("The place is said for a body of any size")
    func largeBody() {
        let text = String(repeating: "a", count: 1 << 20)
        let body = Self.response(#"{"code":0,"text":"\#(text)","data":{"id":7}"#.utf8)
        for error in Self.errors(body) + [#expect(throws: TargetKitError.self) { try body.decode(User.self) }] {
            #expect(error?.description.contains("is invalid at byte") == true, "\(String(describing: error))")
        }
    }

    @Test(
        "A text that RFC 8259 does not allow is an error beside the value, at the byte that cannot be right",
        arguments: JSONTexts.refused.filter { $0.reason != .surrogatePair }
    )
    func refuses(text: String, offset: Int, reason: JSONParsingError.Reason) throws {
        let error = try #require(throws: DecodingError.self) { try JSONPath("").value(in: Data(text.utf8)) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record(error)
            return
        }
        #expect(context.underlyingError as? JSONParsingError == JSONParsingError(reason, at: offset))
        for body in [#"{"data":{"id":7},"x":\#(text)}"#, #"{"x":\#(text),"data":{"id":7}}"#] {
            #expect(throws: TargetKitError.self) { try Self.response(body.utf8).json(atKeyPath: "data") }
        }
    }

    @Test("Bytes that are not UTF-8 are an error in values and keys", arguments: JSONTexts.brokenUTF8)
    func refusesBrokenUTF8(bytes: [UInt8], offset: Int) {
        let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
        for text in [Array("1,\"x\":".utf8) + quoted, Array("1,".utf8) + quoted + Array(":1".utf8)] {
            let body = Array(#"{"data":"#.utf8) + text + Array("}".utf8)
            let error = #expect(throws: TargetKitError.self) { try Self.response(body).json(atKeyPath: "data") }
            #expect(error?.description.contains("expected valid UTF-8") == true)
        }
    }

    @Test("A text that RFC 8259 allows stands beside the value, or is it", arguments: JSONTexts.accepted)
    func accepts(text: String, written: String) throws {
        let plain = text.hasPrefix("\u{FEFF}") ? String(text.unicodeScalars.dropFirst()) : text
        let body = Self.response(#"{"x":\#(plain),"data":{"id":7},"y":[\#(plain)]}"#.utf8)
        #expect(try body.decode(User.self, atKeyPath: "data") == User(id: 7))
        #expect(try body.json(atKeyPath: "x").description == written)
        #expect(try JSONValue(parsing: JSONPath("").value(in: Data(text.utf8))).description == written)
    }

    @Test("Half a surrogate pair, which the grammar allows (RFC 8259 §8.2), stands beside the value")
    func surrogates() throws {
        let body = Self.response(#"{"name":"\ud83d","\ud83d":1,"data":{"id":7}}"#.utf8)
        #expect(try body.decode(User.self, atKeyPath: "data") == User(id: 7))
    }

    @Test(
        "A model is decoded from valid JSON only, although JSONDecoder doesn't look at what the model doesn't read",
        arguments: [
            #"{"id":7,}"#, #"{"id":7,"x":1.2.3}"#, #"{"id":7,"x":01}"#, #"{"id":7,"x":"\q"}"#,
            "{\"id\":7,\"x\":\"\u{1}\"}",
            #"{"id":7,"x":-}"#, #"{"id":7,"x":1e}"#, #"{"id":7,"x":[1,]}"#, #"{"id":7,"#, #"{"id":7}}"#,
        ]
    )
    func wholeModel(body: String) async throws {
        let response = Self.response(body.utf8)
        let target = TestTarget(.example).with {
            $0.sampleResponse = .response(status: 200, data: response.data)
        }
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let called = await #expect(throws: TargetKitError.self) { try await provider.request(target, as: User.self) }
        for error in [called, #expect(throws: TargetKitError.self) { try response.decode(User.self) }] {
            #expect(error?.stage == .decoding)
            #expect(error?.description.contains("is invalid at byte") == true, "\(String(describing: error))")
        }
    }

    @Test("A decoder that reads JSON5, and JSON in UTF-16, are left to JSONDecoder")
    func otherFormats() throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        #expect(try Self.response("{id:7,}".utf8).decode(User.self, using: decoder) == User(id: 7))
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian] {
            let data = try #require(#"{"id":7}"#.data(using: encoding))
            #expect(try Self.response(data).decode(User.self) == User(id: 7))
        }
        #expect(try Self.response("\u{FEFF}{\"id\":7}".utf8).decode(User.self) == User(id: 7))
    }

    @Test("A refusal that is cut is an error of stage decoding, so that half a message is not shown")
    func cutRefusal() throws {
        for body in [#"{"code":5001,"message":"sold o"#, #"{"code":40"#, #"{"code":5001,"message":"sold out""#] {
            let response = Self.response(body.utf8)
            let error = try #require(throws: TargetKitError.self) { try response.unwrap(CodeMessageData()) }
            #expect(error.stage == .decoding)
        }
    }

    @Test("A key that comes twice has one value for all readers, the first, as for JSONDecoder")
    func duplicates() throws {
        struct Twice: Decodable { var s: Int }
        for body in [#"{"s":1,"s":2}"#, #"{"s":1,"a":{"s":3},"\u0073":2}"#] {
            let response = Self.response(body.utf8)
            #expect(try response.decode(Twice.self).s == 1)
            #expect(try response.decode(Int.self, atKeyPath: "s") == 1)
            #expect(try response.json(atKeyPath: "s") == 1)
            #expect(try response.json().s == 1)
            #expect(try response.decode(JSONValue.self).s == 1)
            #expect(try response.decode(JSONObject.self)["s"] == 1)
            #expect(try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8)).s == 1)
        }
    }
}
