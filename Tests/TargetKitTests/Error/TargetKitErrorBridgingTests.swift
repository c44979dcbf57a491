// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("TargetKitError as NSError", .throttled)
struct TargetKitErrorBridgingTests {
    @Test("Domain, code, failing URL and underlying error are there, the URL without what may be secret")
    func bridged() throws {
        let url = try #require(URL(string: "https://user:s3cret@h.example/v1/a?key=s3cret#s3cret"))
        let error = TargetKitError(
            stage: .transport,
            request: URLRequest(url: url),
            underlying: URLError(.timedOut)
        )
        let bridged = error as NSError
        #expect(bridged.domain == "TargetKitError")
        #expect(bridged.code == 2)
        #expect(bridged.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "https://h.example/v1/a"))
        #expect((bridged.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .timedOut)
        #expect(bridged.localizedDescription == error.errorDescription)
    }

    @Test("The app's own error is the underlying one, where there is one, by its domain and code")
    func appError() throws {
        let error = TargetKitError(stage: .status, underlying: URLError(.timedOut), appError: Boom())
        let shown = try #require(error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(shown.domain == (Boom() as NSError).domain)
        #expect(shown.code == (Boom() as NSError).code)
        #expect(shown.localizedDescription == "Boom")
    }

    @Test("Each kind has a code of its own")
    func codes() {
        let codes = TargetKitError.Kind.allCases.map { ErrorTextsTests.error($0).errorCode }
        #expect(Set(codes).count == codes.count)
        #expect(ErrorTextsTests.error(.unknown).errorCode == 0)
        #expect(ErrorTextsTests.error(.offline).errorCode == 1)
        #expect(ErrorTextsTests.error(.shutDown).errorCode == 20)
    }
}
