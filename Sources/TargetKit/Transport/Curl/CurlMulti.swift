// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// A multi handle of libcurl, and its timer. Used only on the loop's thread.
class CurlMulti {
    let handle: UnsafeMutableRawPointer
    let clock: CurlClock
    /// The time of libcurl's timer; `nil` if none is set.
    @exclusivity(unchecked) private(set) final var timer: UInt64?

    init?(_ clock: CurlClock) {
        guard let handle = curl_multi_init() else { return nil }
        self.handle = handle
        self.clock = clock
        ccurl_multi_setopt_pointer(handle, CURLMOPT_TIMERDATA, Unmanaged.passUnretained(self).toOpaque())
        ccurl_multi_setopt_timer(handle) { _, milliseconds, user in
            user?.object(CurlMulti.self).setTimer(milliseconds)
            return 0
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : clock.now + UInt64(milliseconds) * 1_000_000
    }

    /// Releases the handle, and closes its connections. Its transfers must be released before.
    final func close() {
        ccurl_multi_setopt_timer(handle, nil)
        ccurl_multi_setopt_socket(handle, nil)
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_cleanup(handle) }
    }

    /// Starts a transfer; returns `false` if that isn't possible.
    final func add(_ transfer: CurlTransfer) -> Bool { curl_multi_add_handle(handle, transfer.easy) == CURLM_OK }

    @inline(never)
    final func remove(_ transfer: CurlTransfer) {
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_remove_handle(handle, transfer.easy) }
    }

    @inline(never)
    final func act(on descriptor: Int32, flags: Int32) {
        var running: Int32 = 0
        _ = CurlLibrary.withBrokenPipesBlocked { curl_multi_socket_action(handle, descriptor, flags, &running) }
    }

    /// Acts when libcurl's timer is due.
    final func runTimer() {
        guard let timer, timer <= clock.now else { return }
        self.timer = nil
        act(on: CURL_SOCKET_TIMEOUT, flags: 0)
    }
}
#endif
