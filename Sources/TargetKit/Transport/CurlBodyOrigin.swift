// SPDX-License-Identifier: MIT
#if canImport(CCurl)

/// The loop, as the reader of one call's body sees it.
struct CurlBodyOrigin: BodyOrigin {
    let inbox: CurlInbox
    let call: CurlCall

    func goOn() {
        inbox.post(.resume(call))
    }

    func abandon() {
        inbox.cancel(call)
    }
}
#endif
