// SPDX-License-Identifier: MIT
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import TargetKit

/// What Foundation on Linux leaves without a code, read from libcurl's words.
@Suite("Failures of URLSession on Linux", .throttled)
struct URLSessionFailureTests {
    @Test(
        "TLS that ends after its handshake is a lost connection: the request may have been read",
        arguments: [
            (
                "OpenSSL SSL_read: OpenSSL/3.0.13: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
                true
            ),
            ("OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 104", true),
            ("SSL_write() returned SYSCALL, errno = 32", true),
            ("GnuTLS recv error (-110): The TLS connection was non-properly terminated.", true),
            ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a.example:443", false),
            ("TLS connect error: error:0A00010B:SSL routines::wrong version number", false),
            ("gnutls_handshake() failed: The TLS connection was non-properly terminated.", false),
        ]
    )
    func lostConnection(_ words: String, _ isLost: Bool) throws {
        let url = try #require(URL(string: "https://a.example"))
        let given = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: words])
        let error = URLSessionFailure.error(given, hasHead: false, for: url) as? URLError
        #expect(error?.code == (isLost ? .networkConnectionLost : .secureConnectionFailed))
    }
}
#endif
