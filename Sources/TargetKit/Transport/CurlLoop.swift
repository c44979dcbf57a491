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
    /// More handles than this are not kept for later.
    private static let spareLimit = 256

    let inbox: CurlInbox
    let settings: CurlSettings
    let clock = CurlClock()
    let sockets: CurlSockets
    let multi: UnsafeMutableRawPointer
    /// The transfers by their number, idle ones included.
    var transfers: [CurlTransfer?] = []
    @exclusivity(unchecked) var spare: [CurlTransfer] = []
    var freeSlots: [Int] = []
    @exclusivity(unchecked) var runningCount = 0
    @exclusivity(unchecked) private var commands: [CurlInbox.Command] = []
    @exclusivity(unchecked) private var finished: [CurlTransfer] = []
    /// When libcurl wants to be called, whatever happens; `nil`: not at all.
    @exclusivity(unchecked) private var timer: UInt64?

    init?(inbox: CurlInbox, configuration: CurlTransport.Configuration) {
        guard CurlLibrary.isReady, let sockets = CurlSockets(wakeDescriptor: inbox.descriptor),
            let multi = curl_multi_init()
        else { return nil }
        self.inbox = inbox
        settings = CurlSettings(configuration)
        self.sockets = sockets
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
    }

    private func setUp() {
        let configuration = settings.configuration
        let user = Unmanaged.passUnretained(self).toOpaque()
        ccurl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        ccurl_multi_setopt_socket(multi) { _, descriptor, what, user, _ in
            if let user { Unmanaged<CurlSockets>.fromOpaque(user).takeUnretainedValue().want(what, of: descriptor) }
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
            runTimers()
            finishDone()
            if phase != .open, runningCount == 0, inbox.endWhenEmpty() { return }
            wait(in: phase)
            finishDone()
        }
    }

    private func perform(_ command: consuming CurlInbox.Command) {
        switch command {
        case .start(let start):
            begin(start)
        case .cancel(let call):
            if let transfer = transfer(of: call) { end(transfer, with: .cancelled) }
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
        sockets.wait(milliseconds: inbox.fallAsleep(knowing: phase) ? milliseconds : 0)
        clock.tick()
        var running: Int32 = 0
        for event in sockets.events {
            curl_multi_socket_action(multi, event.descriptor, event.flags, &running)
        }
    }
}

// MARK: - Transfers

extension CurlLoop {
    private func begin(_ start: consuming CurlStart) {
        let room = start.takeRoom()
        guard !start.call.isCancelled.load(ordering: .acquiring) else { return start.fail(with: .cancelled) }
        guard let transfer = spareTransfer() else { return start.fail(with: .unavailable) }
        do {
            try transfer.begin(start, room: room)
        } catch {
            transfer.end(with: .failure(error))
            keep(transfer)
            return CurlEnding(start: start, outcome: .failure(error), channel: nil, queue: nil).deliver()
        }
        runningCount += 1
        let result = curl_multi_add_handle(multi, transfer.easy)
        guard result == CURLM_OK else { return end(transfer, with: .unavailable) }
        if start.call.timeoutMilliseconds == 0 {
            clock.setAlarm(clock.now + settings.configuration.idleTimeout.curlNanoseconds)
        }
    }

    /// Ends the exchanges that libcurl is done with.
    private func finishDone() {
        var result = CURLE_OK
        while let easy = ccurl_multi_next_done(multi, &result) {
            guard let user = ccurl_private(easy) else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(user).takeUnretainedValue()
            end(transfer, after: result)
        }
        // All together: the first would wake a thread that is done with it before the second comes, and sleeps again.
        for transfer in finished {
            transfer.ending.take()?.deliver()
            keep(transfer)
        }
        finished.removeAll(keepingCapacity: true)
    }

    private func end(_ transfer: CurlTransfer, with failure: CurlFailure) {
        end(transfer, with: .failure(failure))
    }

    private func end(_ transfer: CurlTransfer, after result: CURLcode) {
        end(transfer, with: Result { try transfer.outcome(result) })
    }

    /// Takes the transfer away from libcurl; its call hears of it at the end of the round.
    private func end(_ transfer: CurlTransfer, with outcome: Result<TransportResponse, any Error>) {
        curl_multi_remove_handle(multi, transfer.easy)
        runningCount -= 1
        transfer.end(with: outcome)
        finished.append(transfer)
    }

    private func endAll(with failure: CurlFailure) {
        for case let transfer? in transfers where transfer.start != nil { end(transfer, with: failure) }
    }

    /// Ends the exchanges that libcurl would not end: those that are idle, and those whose answer is here before the request
    /// has gone.
    private func endOverdue() {
        clock.clearAlarm()
        for case let transfer? in transfers where transfer.start != nil {
            if transfer.isOverEarly() {
                end(transfer, after: CURLE_OK)
            } else if let due = transfer.idleDue {
                if due <= clock.now { end(transfer, with: transfer.sayingUnsent(.idle)) } else { clock.setAlarm(due) }
            }
        }
    }

    private func spareTransfer() -> CurlTransfer? {
        if let transfer = spare.popLast() { return transfer }
        let slot = freeSlots.popLast() ?? transfers.count
        let transfer = CurlTransfer(slot: slot, loop: self)
        if slot == transfers.count { transfers.append(transfer) } else { transfers[slot] = transfer }
        return transfer
    }

    private func keep(_ transfer: CurlTransfer) {
        guard spare.count >= Self.spareLimit else { return spare.append(transfer) }
        transfers[transfer.slot] = nil
        freeSlots.append(transfer.slot)
    }
}
#endif
