// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import CTargetKitCurl
import Foundation

/// The time as the loop sees it, looked up once for each round.
final class CurlClock {
    /// Nanoseconds since some moment that never changes.
    @exclusivity(unchecked) private(set) var now: UInt64 = 0
    /// When the loop has to look after its exchanges, though libcurl has nothing to say.
    @exclusivity(unchecked) private(set) var alarm = UInt64.max

    init() { tick() }

    /// Sets the alarm, unless it is set to an earlier moment.
    func setAlarm(_ moment: UInt64) {
        alarm = min(alarm, moment)
    }

    func clearAlarm() {
        alarm = .max
    }

    func tick() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        now = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Runs all exchanges of a ``CurlTransport``, on one thread that nothing here ever leaves.
///
/// What changes with every exchange, here, in ``CurlTransfer`` and in ``CurlSockets``, is `@exclusivity(unchecked)`: to note each
/// access, in search of two that overlap, would take a twentieth of an exchange's time.
final class CurlLoop {
    let inbox: CurlInbox
    let settings: CurlSettings
    let clock = CurlClock()
    let sockets: CurlSockets
    /// The calls that have not been passed to libcurl yet.
    let queue: CurlQueue
    /// The shared TLS sessions, which would otherwise belong to one handle each.
    let share: UnsafeMutableRawPointer?
    let multi: UnsafeMutableRawPointer
    /// The transfers by their number, idle ones included.
    var transfers: [CurlTransfer?] = []
    @exclusivity(unchecked) var spare: [CurlTransfer] = []
    var freeSlots: [Int] = []
    @exclusivity(unchecked) var runningCount = 0
    @exclusivity(unchecked) private var commands: [CurlInbox.Command] = []
    @exclusivity(unchecked) var finished: [CurlTransfer] = []
    /// When libcurl wants to be called, whatever happens; `nil`: not at all.
    @exclusivity(unchecked) private var timer: UInt64?

    init?(inbox: CurlInbox, configuration: CurlTransport.Configuration) {
        guard CurlLibrary.isReady, let sockets = CurlSockets(wakeDescriptor: inbox.descriptor),
            let multi = curl_multi_init()
        else { return nil }
        self.inbox = inbox
        settings = CurlSettings(configuration)
        self.sockets = sockets
        queue = CurlQueue(CurlQueue.Limits(configuration))
        share = ccurl_share_sessions()
        self.multi = multi
        setUp()
    }

    deinit {
        // A handle has to go before its multi handle. Nobody waits any more, so nobody needs to know.
        ccurl_multi_setopt_timer(multi, nil)
        ccurl_multi_setopt_socket(multi, nil)
        transfers = []
        spare = []
        curl_multi_cleanup(multi)
        curl_share_cleanup(share)
    }

    private func setUp() {
        let configuration = settings.configuration
        let user = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        ccurl_multi_setopt_socket(multi) { easy, descriptor, what, user, _ in
            guard let user else { return 0 }
            let sockets = Unmanaged<CurlSockets>.fromOpaque(user).takeUnretainedValue()
            sockets.want(what, of: descriptor)
            // libcurl also has internal handles.
            guard let user = ccurl_private(easy) else { return 0 }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            if what != CURL_POLL_REMOVE {
                transfer.descriptor = descriptor
            } else if transfer.leavesConnectionIdle {
                sockets.rest(descriptor)
            }
            return 0
        }
        ccurl_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, user)
        ccurl_multi_setopt_timer(multi) { _, milliseconds, user in
            if let user { Unmanaged<CurlLoop>.fromOpaque(user).takeUnretainedValue().setTimer(milliseconds) }
            return 0
        }
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.maxConnectionsPerHost))
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(0, configuration.maxConnections))
        ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maxIdleConnections))
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, CurlQueue.Limits.streams)
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : clock.now + UInt64(milliseconds) * 1_000_000
    }

    /// Works until there is nothing left to do and nobody left to ask.
    func run() {
        while true {
            let phase = inbox.take(&commands)
            // Taken out one by one: what a command brings is to have no other owner.
            commands.reverse()
            while let command = commands.popLast() { perform(command) }
            if phase == .closing { endAll(with: .shutDown) }
            finishDone()
            startWaiting()
            if phase != .open, runningCount == 0, inbox.endWhenEmpty() { return }
            // Socket events come first: a closed connection must not carry a request that starts now.
            wait(in: phase)
            runTimers()
            finishDone()
        }
    }

    private func perform(_ command: consuming CurlInbox.Command) {
        switch command {
        case .start(let start):
            take(start)
        case .cancel(let call):
            if let transfer = transfer(of: call) { return end(transfer, with: .cancelled) }
            queue.remove(call)?.fail(with: .cancelled)
        case .resume(let call):
            guard let transfer = transfer(of: call) else { return }
            let result = transfer.goOn()
            if result != CURLE_OK { end(transfer, after: result) }
        }
    }

    private func transfer(of call: CurlCall) -> CurlTransfer? {
        let slot = call.slot.load(ordering: .relaxed)
        guard transfers.indices.contains(slot), let transfer = transfers[slot] else { return nil }
        return transfer.start?.call === call ? transfer : nil
    }

    private func runTimers() {
        if let due = timer, due <= clock.now {
            timer = nil
            var running: Int32 = 0
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
        }
        if clock.alarm <= clock.now { endOverdue() }
    }

    private func wait(in phase: CurlInbox.Phase) {
        let wakeUp = min(timer ?? .max, clock.alarm)
        var milliseconds: Int32 = -1
        if wakeUp != .max {
            let left = wakeUp > clock.now ? wakeUp - clock.now : 0
            milliseconds = Int32(min((left + 999_999) / 1_000_000, UInt64(Int32.max)))
        }
        sockets.wait(milliseconds: milliseconds != 0 && inbox.fallAsleep(knowing: phase) ? milliseconds : 0)
        clock.tick()
        var running: Int32 = 0
        for event in sockets.events {
            curl_multi_socket_action(multi, event.descriptor, event.flags, &running)
        }
    }
}
#endif
