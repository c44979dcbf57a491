// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

@testable import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The session of a URLSessionTransport", .throttled)
struct URLSessionConfigurationTests {
    @Test("The limit of a whole exchange is the configuration's, and no limit of the session is below a call's own")
    func timeouts() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        configuration.timeoutIntervalForResource = 300
        let used = URLSessionTransport(configuration: configuration).session.configuration
        #expect(used.timeoutIntervalForResource == 300)
        #expect(used.timeoutIntervalForRequest == URLSessionCall.longestTimeout)
        #expect(configuration.timeoutIntervalForRequest == 20)
    }

    @Test("A body is sent with its length, by a data task", arguments: [0, 1, 2 << 20])
    func bodies(byteCount: Int) throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("body")
        try Data(count: byteCount).write(to: file)
        let spool = try PartialFile()
        try spool.append(Data(count: byteCount))
        let request = URLRequest(url: .example)
        for body in [URLSessionBody.file(file), .spooled(spool)] {
            let sent = request.sending(body)
            #expect(sent.value(forHTTPHeaderField: "Content-Length") == "\(byteCount)")
            #expect(sent.httpBodyStream != nil)
            #expect(sent.httpBody == nil)
        }
        #expect(request.sending(.none).httpBodyStream == nil)
        let task = URLSession(configuration: .ephemeral).dataTask(with: request.sending(.file(file)))
        #expect(!(task is URLSessionUploadTask))
        spool.remove()
    }
}
