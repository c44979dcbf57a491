// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A multi handle of libcurl, for connections that are opened at about the same time.
///
/// libcurl leaves such a connection in its cache as unused. When it opens another connection, at most once a second, it
/// closes cached connections that seem dead; before 7.88, these include all connections with unread bytes
/// (`prune_dead_connections`). Therefore no connection is opened in the same multi handle after that time.
final class CurlConnectionGroup {
    /// The time in which connections are opened, in nanoseconds.
    private static let openTime: UInt64 = 900_000_000

    let multi: UnsafeMutableRawPointer
    private let sockets: CurlSockets
    private let clock: CurlClock
    private let start: UInt64
    /// The number of connections that are being opened.
    private(set) var openingCount = 0
    /// The time of libcurl's timer; `nil` when none is set.
    var timer: UInt64?
    /// The sockets that libcurl waits for.
    private(set) var descriptors: [Int32] = []

    init?(sockets: CurlSockets, clock: CurlClock) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.sockets = sockets
        self.clock = clock
        start = clock.now
        let user = Unmanaged.passUnretained(self).toOpaque()
        // No connection is closed to make room for another.
        ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, Int(Int32.max))
        ccurl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, user)
        ccurl_multi_setopt_socket(multi) { _, descriptor, what, user, _ in
            user?.object(CurlConnectionGroup.self).note(descriptor, what)
            return 0
        }
        ccurl_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, user)
        ccurl_multi_setopt_timer(multi) { _, milliseconds, user in
            user?.object(CurlConnectionGroup.self).setTimer(milliseconds)
            return 0
        }
    }

    deinit {
        ccurl_multi_setopt_timer(multi, nil)
        ccurl_multi_setopt_socket(multi, nil)
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_cleanup(multi) }
    }

    /// Whether another connection can be opened.
    var isOpen: Bool { clock.now - start < Self.openTime }

    private func note(_ descriptor: Int32, _ what: Int32) {
        descriptors.removeAll { $0 == descriptor }
        if what != CURL_POLL_REMOVE { descriptors.append(descriptor) }
        sockets.setInterest(what, of: descriptor)
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : clock.now + UInt64(milliseconds) * 1_000_000
    }

    func add(_ transfer: CurlTransfer) -> Bool {
        guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else { return false }
        openingCount += 1
        return true
    }

    /// Notes that a connection was opened or failed.
    func noteOpened() {
        openingCount -= 1
    }

    /// Removes a handle, and closes its connection.
    func remove(_ transfer: CurlTransfer) {
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_remove_handle(multi, transfer.easy) }
    }

    func act(on descriptor: Int32, flags: Int32) {
        var running: Int32 = 0
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_socket_action(multi, descriptor, flags, &running) }
    }

    /// Acts when libcurl's timer is due.
    func runTimer() {
        guard let timer, timer <= clock.now else { return }
        self.timer = nil
        act(on: CURL_SOCKET_TIMEOUT, flags: 0)
    }
}
#endif
