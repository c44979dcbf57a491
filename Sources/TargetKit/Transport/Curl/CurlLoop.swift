// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The loop's time, read once in each round.
final class CurlClock {
    /// Nanoseconds of the monotonic clock.
    @exclusivity(unchecked) private(set) var now: UInt64 = 0
    /// The time at which the loop checks its exchanges for timeouts.
    @exclusivity(unchecked) private(set) var alarm = UInt64.max

    init() { tick() }

    /// Sets the alarm, unless an earlier one is set.
    func setAlarm(_ time: UInt64) {
        alarm = min(alarm, time)
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

/// Runs all exchanges of a ``CurlTransport`` on one thread.
///
/// The properties that change with every exchange, here and in ``CurlTransfer`` and ``CurlSockets``, are
/// `@exclusivity(unchecked)`, because checking each access takes 5 % of an exchange (`Benchmarks`, `network`).
final class CurlLoop {
    let commandQueue: CurlCommandQueue
    let settings: CurlSettings
    let clock = CurlClock()
    let sockets: CurlSockets
    /// The calls that aren't passed to libcurl yet.
    let queue: CurlConnectionQueue
    let goAways = CurlGoAways()
    let arrivals = CurlArrivals()
    /// Shares TLS sessions between the handles.
    let share: UnsafeMutableRawPointer?
    let multi: CurlMulti
    /// The transfers by slot, including idle ones.
    var transfers: [CurlTransfer?] = []
    @exclusivity(unchecked) var spare: [CurlTransfer] = []
    var freeSlots: [Int] = []
    @exclusivity(unchecked) var runningCount = 0
    /// The number of running transfers whose calls ended while a name is looked up.
    var abandonedCount = 0
    @exclusivity(unchecked) private var commands: [CurlCommandQueue.Command] = []
    @exclusivity(unchecked) var finished: [CurlTransfer] = []
    /// The upgraded connections; `nil` until the first is requested.
    @exclusivity(unchecked) var connections: CurlConnections?

    init?(commandQueue: CurlCommandQueue, configuration: CurlTransport.Configuration) {
        guard CurlLibrary.isReady, let sockets = CurlSockets(wakeDescriptor: commandQueue.open()),
            let multi = CurlMulti(clock)
        else { return nil }
        self.commandQueue = commandQueue
        settings = CurlSettings(configuration)
        self.sockets = sockets
        queue = CurlConnectionQueue(CurlConnectionQueue.Limits(configuration))
        share = ccurl_share_sessions()
        self.multi = multi
        setUp()
    }

    deinit {
        // No call is waiting.
        CurlLibrary.withBrokenPipesBlocked {
            connections = nil
            transfers = []
            spare = []
        }
        multi.close()
        curl_share_cleanup(share)
    }

    private func setUp() {
        let configuration = settings.configuration
        let multi = multi.handle
        sockets.isAnyUnknownPaused = { [unowned self] in
            transfers.contains { $0?.isPaused == true && $0?.descriptor == -1 }
        }
        ccurl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        ccurl_multi_setopt_socket(multi) { easy, descriptor, what, user, _ in
            guard let sockets = user?.object(CurlSockets.self) else { return 0 }
            sockets.setInterest(what, of: descriptor)
            // libcurl also has internal handles.
            guard let transfer = ccurl_private(easy)?.object(CurlTransfer.self) else { return 0 }
            if what != CURL_POLL_REMOVE {
                transfer.descriptor = descriptor
            } else if transfer.leavesConnectionIdle {
                sockets.markIdle(descriptor)
            }
            return 0
        }
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(0, configuration.maxConnectionsPerHost))
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(0, configuration.maxConnections))
        // The maximum number of open idle connections.
        ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 128)
        ccurl_multi_setopt_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, CurlConnectionQueue.Limits.streams)
    }

    /// Runs until the transport is released or shut down and the last call ends.
    func run() {
        while true {
            let phase = commandQueue.take(&commands)
            for command in commands { perform(command) }
            commands.removeAll(keepingCapacity: true)
            if phase == .closing { endAll(with: .shutDown) }
            finishCompleted()
            startQueuedCalls()
            if phase != .open, runningCount == abandonedCount, connections?.isEmpty ?? true,
                commandQueue.endWhenEmpty()
            {
                return
            }
            // Socket events come first, so that no request starts on a closed connection.
            wait(in: phase)
            runTimers()
            finishCompleted()
        }
    }

    private func perform(_ command: CurlCommandQueue.Command) {
        switch command {
        case .start(let pending):
            take(pending)
        case .cancel(let call):
            if case .upgrade = call.destination {
                connections?.cancel(call)
            } else if let transfer = transfer(of: call) {
                interrupt(transfer, with: .failure(TransportFailure.cancelled))
            } else {
                queue.remove(call, of: settings.hostKey(of: call))?.fail(with: .cancelled)
            }
        case .resume(let call):
            guard let transfer = transfer(of: call) else { return }
            let result = transfer.resume()
            if result != CURLE_OK { end(transfer, after: result) }
        case .work(let channel):
            connections?.work(channel)
        }
    }

    private func transfer(of call: CurlCall) -> CurlTransfer? {
        let slot = call.slot.load(ordering: .relaxed)
        guard transfers.indices.contains(slot), let transfer = transfers[slot] else { return nil }
        return transfer.current?.call === call ? transfer : nil
    }

    private func runTimers() {
        // Before libcurl ends a lookup.
        if clock.alarm <= clock.now { endTimedOut() }
        multi.runTimer()
        connections?.runTimers()
    }

    private func wait(in phase: CurlCommandQueue.Phase) {
        var wakeUp = min(multi.timer ?? .max, clock.alarm)
        if let connections { wakeUp = min(wakeUp, connections.timer) }
        var milliseconds: Int32 = -1
        if wakeUp != .max {
            let left = wakeUp > clock.now ? wakeUp - clock.now : 0
            milliseconds = Int32(min((left + 999_999) / 1_000_000, UInt64(Int32.max)))
        }
        sockets.wait(milliseconds: milliseconds != 0 && commandQueue.prepareToWait(in: phase) ? milliseconds : 0)
        clock.tick()
        for event in sockets.events where !(connections?.act(on: event) ?? false) {
            multi.act(on: event.descriptor, flags: event.flags)
        }
    }
}
#endif
