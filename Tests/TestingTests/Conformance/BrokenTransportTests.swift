// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TargetKitTransportConformance
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport with a fault, by which it does not meet a requirement.
private struct BrokenTransport: Transport {
    var prepare: @Sendable (inout TransportRequest) -> Void = { _ in }
    var finish: @Sendable (TransportResponse) throws -> TransportResponse = { $0 }
    var fail: @Sendable (any Error) -> any Error = { $0 }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        var request = request
        prepare(&request)
        do {
            return try finish(try await SystemTransport.patient.send(request))
        } catch {
            throw fail(error)
        }
    }
}

@Suite("The conformance suite with broken transports", .throttled, .timeLimit(.minutes(2)))
struct BrokenTransportTests {
    private func message(_ requirement: String, _ transport: BrokenTransport) async throws -> String {
        let found = TransportConformance.requirements.first { $0.description == requirement }
        let error = await #expect(throws: (any Error).self) { try await found?.check(transport) }
        return "\(try #require(error))"
    }

    @Test("A changed request is reported with what was expected and what was received")
    func changedRequest() async throws {
        let transport = BrokenTransport(prepare: { $0.urlRequest.setValue(nil, forHTTPHeaderField: "User-Agent") })
        let text = try await message("It sends header fields unchanged", transport)
        #expect(
            text.hasPrefix(
                "sendsHeaders: It sends header fields unchanged: the values of User-Agent: expected [\"conformance/1\"]"
            )
        )
    }

    @Test("A missing body is reported with the sizes")
    func missingBody() async throws {
        let transport = BrokenTransport(finish: { TransportResponse(head: $0.head, body: .data(Data())) })
        #expect(
            try await message("It reads a large body completely", transport)
                == "readsLargeBody: It reads a large body completely: 0 bytes were returned, which differ from the 8388608 sent"
        )
    }

    @Test("A missing header field is reported as none")
    func missingField() async throws {
        let transport = BrokenTransport(finish: { response in
            var headers = response.head.headers
            headers["WWW-Authenticate"] = nil
            let head = ResponseHead(statusCode: response.head.statusCode, headers: headers)
            return TransportResponse(head: head, body: response.body)
        })
        let requirement = "It returns a 401 with its body, and doesn't send the request again"
        #expect(
            try await message(requirement, transport)
                == #"returnsUnauthorized: \#(requirement): WWW-Authenticate: expected "Basic realm=\"x\"", found none"#
        )
    }

    @Test("An error that should not be thrown is reported")
    func thrown() async throws {
        struct Unfinished: Error, CustomStringConvertible { let description = "not implemented" }
        let transport = BrokenTransport(finish: { _ in throw Unfinished() })
        #expect(
            try await message("It returns each status from 200 to 599", transport)
                == "returnsEveryStatus: It returns each status from 200 to 599: not implemented"
        )
    }

    @Test("Another error than the required one is reported with its code")
    func otherError() async throws {
        let transport = BrokenTransport(fail: { _ in URLError(.unknown) })
        let text = try await message("A refused connection is .cannotConnectToHost", transport)
        #expect(
            text.hasPrefix(
                "refusedConnection: A refused connection is .cannotConnectToHost: the code was -1, expected -1004"
            )
        )
    }

    @Test("A missing error is reported")
    func missingError() async throws {
        struct Quiet: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                TransportResponse(head: ResponseHead(statusCode: 200), body: .data(Data()))
            }
        }
        let requirement = TransportConformance.requirements.first { $0.id == "refusedConnection" }
        let error = await #expect(throws: (any Error).self) { try await requirement?.check(Quiet()) }
        #expect("\(error as Any)".contains("the call returned the status 200, expected an error"))
    }

    @Test("A stub that changes the response is reported")
    func stub() async throws {
        let requirement = TransportConformance.stubRequirements.first {
            $0.id == "returnsResponse"
        }
        let error = await #expect(throws: (any Error).self) {
            try await requirement?.check { _ in StubTransport { _ in .response(status: 200, data: Data()) } }
        }
        #expect(
            error.map { "\($0)" }
                == "returnsResponse: It returns the response's status, header fields and body: the status: expected 418, found 200"
        )
    }

    @Test("The identifiers of the requirements are different ones, so that each can be skipped")
    func names() {
        let names = TransportConformance.requirements.map(\.id)
        #expect(Set(names).count == names.count)
        let stubs = TransportConformance.stubRequirements.map(\.id)
        #expect(Set(stubs).count == stubs.count)
    }
}
