// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// A channel that the loop fills, as the reader of one call's body sees it.
struct CurlBodyOrigin: BodyOrigin {
    let channel: BodyChannel
    let inbox: CurlInbox
    let call: CurlCall

    func next() async throws -> Data? {
        try await channel.next { inbox.post(.resume(call)) }
    }

    func abandon() {
        inbox.cancel(call)
    }
}
#endif
