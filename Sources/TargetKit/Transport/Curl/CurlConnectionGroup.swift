// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A multi handle for connections that are opened at about the same time.
///
/// libcurl leaves such a connection in its cache as unused. When it opens another connection, at most once a second, it
/// closes cached connections that seem dead; before 7.88, these include all connections with unread bytes
/// (`prune_dead_connections`). Therefore no connection is opened in the same multi handle after that time.
final class CurlConnectionGroup: CurlMulti {
    /// The time in which connections are opened, in nanoseconds.
    private static let openTime: UInt64 = 900_000_000

    private let sockets: CurlSockets
    private let start: UInt64
    /// The number of connections that are being opened.
    var openingCount = 0
    /// The sockets that libcurl waits for.
    private(set) var descriptors: [Int32] = []

    init?(sockets: CurlSockets, clock: CurlClock) {
        self.sockets = sockets
        start = clock.now
        super.init(clock)
        let user = Unmanaged.passUnretained(self).toOpaque()
        // No connection is closed to make room for another.
        ccurl_multi_setopt_long(handle, CURLMOPT_MAXCONNECTS, Int(Int32.max))
        ccurl_multi_setopt_pointer(handle, CURLMOPT_SOCKETDATA, user)
        ccurl_multi_setopt_socket(handle) { _, descriptor, what, user, _ in
            user?.object(CurlConnectionGroup.self).note(descriptor, what)
            return 0
        }
    }

    deinit {
        close()
    }

    /// Whether another connection can be opened.
    var isOpen: Bool { clock.now - start < Self.openTime }

    private func note(_ descriptor: Int32, _ what: Int32) {
        descriptors.removeAll { $0 == descriptor }
        if what != CURL_POLL_REMOVE { descriptors.append(descriptor) }
        sockets.setInterest(what, of: descriptor)
    }
}
#endif
