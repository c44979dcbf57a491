// SPDX-License-Identifier: MIT
import TestSupport
import Testing
import TargetKitMoya

@Suite("Errors", .throttled)
struct MoyaErrorTests {
    /// An error, and what it has.
    struct Case: CustomTestStringConvertible, Sendable {
        let error: MoyaError
        let hasResponse: Bool
        let hasCause: Bool
        let text: String

        var testDescription: String { text }
    }

    static let response = Response(statusCode: 500, data: Data())
    static let cause = NSError(domain: "Test", code: 42, userInfo: [NSLocalizedDescriptionKey: "No luck."])

    static let cases: [Case] = [
        Case(
            error: .imageMapping(response),
            hasResponse: true,
            hasCause: false,
            text: "Failed to map data to an Image."
        ),
        Case(error: .jsonMapping(response), hasResponse: true, hasCause: false, text: "Failed to map data to JSON."),
        Case(
            error: .stringMapping(response),
            hasResponse: true,
            hasCause: false,
            text: "Failed to map data to a String."
        ),
        Case(
            error: .objectMapping(cause, response),
            hasResponse: true,
            hasCause: true,
            text: "Failed to map data to a Decodable object."
        ),
        Case(
            error: .encodableMapping(cause),
            hasResponse: false,
            hasCause: true,
            text: "Failed to encode Encodable object into data."
        ),
        Case(
            error: .statusCode(response),
            hasResponse: true,
            hasCause: false,
            text: "Status code didn't fall within the given range."
        ),
        Case(error: .underlying(cause, response), hasResponse: true, hasCause: true, text: "No luck."),
        Case(error: .underlying(cause, nil), hasResponse: false, hasCause: true, text: "No luck."),
        Case(
            error: .requestMapping("url"),
            hasResponse: false,
            hasCause: false,
            text: "Failed to map Endpoint to a URLRequest."
        ),
        Case(
            error: .parameterEncoding(cause),
            hasResponse: false,
            hasCause: true,
            text: "Failed to encode parameters for URLRequest. No luck."
        ),
    ]

    @Test("Each error has its response, its text, and its cause in the user info", arguments: cases)
    func properties(of item: Case) {
        #expect((item.error.response != nil) == item.hasResponse)
        #expect(item.error.errorDescription == item.text)
        #expect(item.error.localizedDescription == item.text)
        #expect(item.error.errorUserInfo[NSLocalizedDescriptionKey] as? String == item.text)
        #expect((item.error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)?.code == (item.hasCause ? 42 : nil))
    }
}
