// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The sockets that the loop waits for with epoll.
///
/// libcurl stops waiting for a socket after each exchange and resumes with the next. For sockets that are opened and
/// closed through callbacks, the kernel is updated only when an unneeded event arrives.
final class CurlSockets {
    struct Event {
        var descriptor: Int32
        /// The events for libcurl: `CURL_CSELECT_IN`, `CURL_CSELECT_OUT`.
        var flags: Int32
    }

    private struct Entry {
        var wanted: UInt32 = 0
        var watched: UInt32 = 0
        /// Whether it was opened through the callback, so that closing it is reported.
        var isTracked = false
        /// Whether it is idle until another request over HTTP/1.1.
        var isIdle = false
    }

    private let epoll: Int32
    private let wakeDescriptor: Int32
    /// A socket with a closed peer, which replaces a discarded connection.
    private let endedDescriptor: Int32
    @exclusivity(unchecked) private var entries: [Entry] = []
    @exclusivity(unchecked) private var ready = [epoll_event](repeating: epoll_event(), count: 256)
    /// Whether an exchange is paused while its socket is unknown.
    var isAnyUnknownPaused: () -> Bool = { false }
    /// The events of the last ``wait(milliseconds:)``.
    @exclusivity(unchecked) private(set) var events: [Event] = []

    init?(wakeDescriptor: Int32) {
        epoll = ccurl_epoll()
        endedDescriptor = ccurl_ended_socket()
        self.wakeDescriptor = wakeDescriptor
        // Edge-triggered, so that it doesn't have to be read.
        let isWatched =
            ccurl_epoll_set(epoll, EPOLL_CTL_ADD, wakeDescriptor, ccurl_epoll_in | ccurl_epoll_edge) == 0
        guard isWatched, endedDescriptor >= 0 else { return nil }
    }

    deinit {
        for descriptor in [epoll, endedDescriptor] where descriptor >= 0 { close(descriptor) }
    }

    /// Records that libcurl opened the socket.
    func didOpen(_ descriptor: Int32) {
        self[descriptor] = Entry(isTracked: true)
    }

    /// Records that libcurl closes the socket, after which the kernel no longer watches it.
    func didClose(_ descriptor: Int32) {
        self[descriptor] = Entry()
    }

    /// Sets the events that libcurl waits for: `CURL_POLL_IN`, `CURL_POLL_OUT`, both, or none.
    func setInterest(_ what: Int32, of descriptor: Int32) {
        var wanted: UInt32 = 0
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { wanted |= ccurl_epoll_in }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { wanted |= ccurl_epoll_out }
        var entry = self[descriptor]
        entry.wanted = wanted
        if wanted != 0 { entry.isIdle = false }
        let isWatchedEnough = entry.isTracked && wanted & ~entry.watched == 0
        if !isWatchedEnough { watch(wanted, of: descriptor, in: &entry) }
        self[descriptor] = entry
    }

    /// Marks the socket as idle. No data is expected on it until the next request.
    func markIdle(_ descriptor: Int32) {
        var entry = self[descriptor]
        guard entry.isTracked else { return }
        entry.isIdle = true
        self[descriptor] = entry
    }

    /// Waits for events; a negative time means no timeout.
    func wait(milliseconds: Int32) {
        events.removeAll(keepingCapacity: true)
        let count = epoll_wait(epoll, &ready, Int32(ready.count), milliseconds)
        guard count > 0 else { return }
        for index in 0..<Int(count) where ready[index].data.fd != wakeDescriptor {
            note(ready[index].events, of: ready[index].data.fd)
        }
    }

    private func note(_ happened: UInt32, of descriptor: Int32) {
        var entry = self[descriptor]
        let failed = happened & ccurl_epoll_failed != 0
        let useful = failed ? entry.wanted : happened & entry.wanted
        if useful == 0 {
            // Writability, which the previous exchange waited for, isn't incoming data.
            let hasCome = happened & (ccurl_epoll_in | ccurl_epoll_failed) != 0
            watch(entry.isIdle && !hasCome ? ccurl_epoll_in : entry.wanted, of: descriptor, in: &entry)
            self[descriptor] = entry
            if hasCome, entry.isIdle, !isAnyUnknownPaused() { discardConnection(descriptor) }
            return
        }
        // Writability is always reported; libcurl checks it. Otherwise, the body of a request that just opened an
        // HTTP/2 connection would wait for another round. If the response to its head arrives in that round, libcurl
        // 7.88 loses it (`TLSTests.multiplexed`).
        var flags = CURL_CSELECT_OUT
        if useful & ccurl_epoll_in != 0 { flags |= CURL_CSELECT_IN }
        events.append(Event(descriptor: descriptor, flags: flags))
    }

    /// Closes a connection that received data while idle, because the data would be read as the response to the next
    /// request.
    ///
    /// Before reuse, libcurl checks whether a connection is closed, but accepts a connection with unread data or an
    /// error. `shutdown(_:_:)` isn't enough, because later data causes an error.
    private func discardConnection(_ descriptor: Int32) {
        _ = ccurl_replace(descriptor, endedDescriptor)
    }

    private func watch(_ wanted: UInt32, of descriptor: Int32, in entry: inout Entry) {
        if wanted == 0 {
            _ = ccurl_epoll_set(epoll, EPOLL_CTL_DEL, descriptor, 0)
        } else if ccurl_epoll_set(epoll, entry.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, wanted)
            != 0
        {
            // A socket opened without the callback can have the number of a socket that was closed without it.
            _ = ccurl_epoll_set(epoll, entry.watched == 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, wanted)
        }
        entry.watched = wanted
    }

    private subscript(descriptor: Int32) -> Entry {
        get { entries.indices.contains(Int(descriptor)) ? entries[Int(descriptor)] : Entry() }
        set {
            let missing = Int(descriptor) + 1 - entries.count
            if missing > 0 { entries.append(contentsOf: repeatElement(Entry(), count: missing)) }
            entries[Int(descriptor)] = newValue
        }
    }
}
#endif
