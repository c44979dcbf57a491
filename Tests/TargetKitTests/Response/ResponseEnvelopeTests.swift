// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitJSON
import TargetKitTesting
import TestSupport
import Testing

@Suite("Envelopes", .throttled, .timeLimit(.minutes(2)))
struct ResponseEnvelopeTests {
    struct User: Codable, Equatable {
        var id: Int
    }

    /// How a call ended.
    enum Ending: Equatable, CustomTestStringConvertible {
        case user(Int)
        case refused(String, String)
        case failed(TargetKitError.Stage)

        var testDescription: String { "\(self)" }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var status: Int
        var body: String
        var ending: Ending

        init(_ body: String, _ ending: Ending) {
            self.init(200, body, ending)
        }

        init(_ status: Int, _ body: String, _ ending: Ending) {
            (self.status, self.body, self.ending) = (status, body, ending)
        }

        var testDescription: String { "\(status) \(body)" }
    }

    private func ending(
        _ row: Row,
        _ envelope: some ResponseEnvelope = CodeMessageData(),
        validation: StatusValidation = .none
    ) async -> Ending {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        let target = TestTarget(.example).with {
            $0.sampleResponse = .response(status: row.status, data: Data(row.body.utf8))
            $0.validation = validation
        }
        do throws(TargetKitError) {
            return .user(try await provider.request(target, as: User.self, options: .setting(\.envelope, envelope)).id)
        } catch {
            #expect(error.response?.statusCode == row.status)
            guard let refusal = error.underlying as? ServerDefinedError else { return .failed(error.stage) }
            #expect(error.stage == .envelope)
            let isRejected = validation.accepts(row.status)
            #expect(error.kind == (isRejected ? .rejected : TargetKitError.Kind(statusCode: row.status)))
            return .refused(refusal.code, refusal.message)
        }
    }

    static let rows = [
        // The success set: texts and numbers.
        Row(#"{"code":0,"data":{"id":7}}"#, .user(7)),
        Row(#"{"code":"0","data":{"id":7}}"#, .user(7)),
        Row(#"{"code":"000000","message":"ok","data":{"id":7}}"#, .user(7)),
        Row(#"{"code":200,"data":{"id":7}}"#, .user(7)),
        Row(#"{"code":"200","data":{"id":7}}"#, .user(7)),
        Row(#"{"code":2e2,"data":{"id":7}}"#, .user(7)),
        Row(#"{ "data" : {"id":7} , "message" : "" , "code" : 200.0 }"#, .user(7)),
        // Failures inside 200, code as a text and as a number.
        Row(#"{"code":"A001","message":"no tea"}"#, .refused("A001", "no tea")),
        Row(#"{"code":1001,"msg":"no tea","data":{"id":7}}"#, .refused("1001", "no tea")),
        Row(#"{"code":"1001","message":"no \"tea\" ☕"}"#, .refused("1001", "no \"tea\" ☕")),
        Row(#"{"code":-1}"#, .refused("-1", "")),
        Row(#"{"code":"00000","data":{"id":7}}"#, .refused("00000", "")),
        Row(#"{"code":0.5}"#, .refused("0.5", "")),
        Row(#"{"code":1,"message":null,"msg":"  "}"#, .refused("1", "")),
        Row(#"{"code":1,"errmsg":"no tea"}"#, .refused("1", "no tea")),
        Row(#"{"code":1,"error_msg":"no tea"}"#, .refused("1", "no tea")),
        Row(#"{"code":1,"error_msg":"a","errmsg":"b","msg":"c"}"#, .refused("1", "c")),
        // No code, or none that is one.
        Row(#"{"message":"hm","data":{"id":7}}"#, .failed(.decoding)),
        Row(#"{"code":null,"data":{"id":7}}"#, .failed(.decoding)),
        Row(#"{"code":{},"data":{"id":7}}"#, .failed(.decoding)),
        // HTTP failures with and without an envelope.
        Row(400, #"{"code":"A001","message":"no tea"}"#, .refused("A001", "no tea")),
        Row(400, #"{"code":0,"data":{"id":7}}"#, .failed(.status)),
        Row(500, #"{"code":0,"data":{"id":7}}"#, .failed(.status)),
        Row(502, "<html>", .failed(.status)),
        Row(404, "", .failed(.status)),
        // Bodies that are no envelope.
        Row("", .failed(.decoding)),
        Row("[]", .failed(.decoding)),
        Row("null", .failed(.decoding)),
        Row(#"{"code":0,"data":{"id":"#, .failed(.decoding)),
        // No value, or one of another shape.
        Row(#"{"code":0}"#, .failed(.decoding)),
        Row(#"{"code":0,"data":null}"#, .failed(.decoding)),
        Row(#"{"code":0,"data":{"id":"seven"}}"#, .failed(.decoding)),
    ]

    @Test("The rules of code, message and data", arguments: rows)
    func rules(row: Row) async {
        #expect(await ending(row) == row.ending)
    }

    @Test("A value that doesn't fit is named by its whole path", arguments: ["user", "user.home"])
    func place(keyPath: String) async throws {
        struct Named: Decodable { var name: String }
        let target = TestTarget(.example).with {
            let user = #"{"name":7,"home":{"name":8}}"#
            $0.sampleResponse = .response(status: 200, data: Data(#"{"code":0,"data":{"user":\#(user)}}"#.utf8))
        }
        let error = await #expect(throws: TargetKitError.self) {
            try await Provider<TestTarget>(stubClosure: { _ in .immediate })
                .request(target, as: Named.self, atKeyPath: keyPath, options: .setting(\.envelope, CodeMessageData()))
        }
        #expect(error?.description.contains("data.\(keyPath).name") == true, "\(String(describing: error))")
    }

    @Test("A status that the target does not accept changes nothing about what the envelope says", arguments: rows)
    func validated(row: Row) async {
        #expect(await ending(row, validation: .successCodes) == row.ending)
    }

    @Test("Modules with other names and codes live side by side")
    func modules() async {
        let users = CodeMessageData(
            code: "status.code",
            messages: ["status.reason", "error"],
            data: "result.0",
            success: ["OK"],
            fallbackMessage: "?"
        )
        let flags = CodeMessageData(code: "success", data: "value", success: ["true"])
        let loose = CodeMessageData(acceptsMissingCode: true)
        #expect(await ending(Row(#"{"status":{"code":"OK"},"result":[{"id":1}]}"#, .user(1)), users) == .user(1))
        let refused = Row(#"{"status":{"code":0},"error":"no"}"#, .refused("0", "no"))
        #expect(await ending(refused, users) == .refused("0", "no"))
        #expect(await ending(Row(#"{"status":{"code":"NO"}}"#, .user(1)), users) == .refused("NO", "?"))
        #expect(await ending(Row(#"{"success":true,"value":{"id":2}}"#, .user(2)), flags) == .user(2))
        #expect(await ending(Row(#"{"success":false}"#, .user(2)), flags) == .refused("false", ""))
        #expect(await ending(Row(#"{"data":{"id":3}}"#, .user(3)), loose) == .user(3))
        #expect(await ending(Row("oops", .user(3)), loose) == .failed(.decoding))
    }

    struct Bare: ResponseEnvelope {
        func payload(of response: Response) throws -> Data? {
            let json = try response.json()
            if let fault = json.fault.string {
                throw ServerDefinedError(code: fault, message: "")
            }
            return json.result == .null ? nil : json.result.jsonData()
        }
    }

    @Test("An envelope of the app's own is asked in the same way")
    func ownEnvelope() async {
        #expect(await ending(Row(#"{"result":{"id":4}}"#, .user(4)), Bare()) == .user(4))
        #expect(await ending(Row(#"{"fault":"E1"}"#, .user(4)), Bare()) == .refused("E1", ""))
        #expect(await ending(Row(503, #"{"fault":"E1"}"#, .user(4)), Bare()) == .refused("E1", ""))
        #expect(await ending(Row("<", .user(4)), Bare()) == .failed(.decoding))
    }

    @Test(
        "A value that is missing or null is nil, JSON null, or nothing that anybody asked for",
        arguments: [#"{"code":0}"#, #"{"code":0,"data":null}"#]
    )
    func noValue(body: String) throws {
        let response = Response(statusCode: 200, data: Data(body.utf8))
        #expect(try response.unwrap(User?.self, from: CodeMessageData()) == nil)
        #expect(try response.unwrap(JSONValue.self, from: CodeMessageData()) == .null)
        try response.unwrap(CodeMessageData())
        let error = try #require(throws: TargetKitError.self) {
            try response.unwrap(User.self, from: CodeMessageData())
        }
        #expect(error.description.contains("at data"))
    }

    @Test("With its option, PHP's empty array or text is nil for an optional model, and itself for an array or a text")
    func emptyIsNull() throws {
        let envelope = CodeMessageData(emptyIsNull: true)
        for empty in ["[]", "[ \n]", #""""#] {
            let response = Response(statusCode: 200, data: Data(#"{"code":0,"data":\#(empty),"x":1}"#.utf8))
            #expect(try response.unwrap(User?.self, from: envelope) == nil)
            #expect(throws: TargetKitError.self) { try response.unwrap(User.self, from: envelope) }
            #expect(throws: TargetKitError.self) { try response.unwrap(User?.self, from: CodeMessageData()) }
            let nested = Response(statusCode: 200, data: Data(#"{"code":0,"data":{"user":\#(empty)}}"#.utf8))
            #expect(try nested.unwrap(User?.self, from: envelope, atKeyPath: "user") == nil)
        }
        func response(_ data: String) -> Response {
            Response(statusCode: 200, data: Data(#"{"code":0,"data":\#(data)}"#.utf8))
        }
        #expect(try response("[]").unwrap([User]?.self, from: envelope) == [])
        #expect(try response(#""""#).unwrap(String?.self, from: envelope) == "")
        #expect(try response(#"{"id":7}"#).unwrap(User?.self, from: envelope) == User(id: 7))
        for other in [#"[1]"#, #"" ""#, #""a""#, "0", "{}", "false", "[[]]"] {
            #expect(throws: TargetKitError.self) { try response(other).unwrap(User?.self, from: envelope) }
        }
    }

    @Test("A call without a value may have an empty body, and fails when the envelope says so")
    func void() async throws {
        let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })
        func target(_ status: Int, _ body: String) -> TestTarget {
            TestTarget(.example).with { $0.sampleResponse = .response(status: status, data: Data(body.utf8)) }
        }
        let options = CallOptions.setting(\.envelope, CodeMessageData())
        _ = try await provider.request(target(204, ""), options: options)
        _ = try await provider.request(target(200, #"{"code":0}"#), options: options)
        for (status, body, stage) in [
            (200, #"{"code":1}"#, TargetKitError.Stage.envelope), (500, "", .status), (200, "x", .decoding),
        ] {
            let error = try await #require(throws: TargetKitError.self) {
                try await provider.request(target(status, body), options: options)
            }
            #expect(error.stage == stage)
        }
    }

    struct GetUser: TypedTarget {
        typealias Output = User
        var baseURL: URL { .example }
        var path: RequestPath { "/user" }
        var sampleData: Data { Data(#"{"code":0,"data":{"id":7}}"#.utf8) }
    }

    @Test("A typed target brings its output out of an envelope")
    func typed() async throws {
        let provider = Provider<GetUser>(stubClosure: { _ in .immediate })
        let options = CallOptions.setting(\.envelope, CodeMessageData())
        let user: User = try await provider.request(GetUser(), options: options)
        #expect(user.id == 7)
        let any = Provider<MultiTarget>(stubClosure: { _ in .immediate })
        let same: User = try await any.request(GetUser(), options: options)
        #expect(same == user)
        let untyped = TestTarget(.example).with {
            $0.sampleResponse = .response(status: 200, data: GetUser().sampleData)
        }
        #expect(try await any.request(MultiTarget(untyped), as: User.self, options: options) == user)
    }

    struct Counted: Decodable, Sendable {
        static let count = Tally()

        init(from decoder: any Decoder) throws {
            Self.count.add()
            _ = try decoder.singleValueContainer().decode([Int].self)
        }
    }

    @Test("The value is decoded once")
    func once() throws {
        let response = Response(statusCode: 200, data: Data(#"{"code":0,"data":[1,2]}"#.utf8))
        _ = try response.unwrap(Counted.self, from: CodeMessageData())
        #expect(Counted.count.value == 1)
    }

    @Test("The developer's line has the code, and not the server's message")
    func description() {
        let refusal = ServerDefinedError(code: "A1", message: "s3cret")
        let error = TargetKitError(stage: .envelope, underlying: refusal)
        #expect(error.description.contains("A1"))
        #expect(!error.description.contains("s3cret"))
        #expect(error.text(in: .english) == "s3cret")
    }
}
