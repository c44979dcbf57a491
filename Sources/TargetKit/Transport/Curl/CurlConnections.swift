// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The connections of a transport that are upgraded or being upgraded. The connection limits of other calls don't apply
/// to them.
///
/// A program that opens none has no such object.
final class CurlConnections {
    private static let bufferSize = 64 << 10

    private unowned let loop: CurlLoop
    /// For the bytes that a connection reads.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
    /// The groups in which connections are being opened, or can be.
    private var groups: [CurlConnectionGroup] = []
    /// The connections by their numbers, which are the slots of their transfers.
    private var upgrades: [Int: CurlUpgrade] = [:]
    /// Those that have a socket, by its descriptor.
    private var opened: [Int: CurlUpgrade] = [:]
    private var lastNumber = 0
    /// The calls whose connections are opened later.
    ///
    /// A client opens WebSockets to a host one after another (RFC 6455 §4.1), so that it doesn't flood the host. That
    /// would take a thousand round trips for a thousand WebSockets, so this limit is larger.
    private let openings = CurlConnectionQueue(CurlConnectionQueue.Limits(connectionsPerHost: 128, lookups: .max))

    init(_ loop: CurlLoop) {
        self.loop = loop
    }

    deinit {
        upgrades = [:]
        buffer.deallocate()
    }

    var isEmpty: Bool { upgrades.isEmpty && openings.count == 0 }

    /// The time of the next of libcurl's timers.
    var timer: UInt64 { groups.lazy.compactMap(\.timer).min() ?? .max }

    /// Begins to open a connection for a call, when few enough connections to its host are being opened.
    func begin(_ pending: CurlPendingCall) {
        openings.add(pending, for: Self.hostKey(of: pending.call))
        openNext()
    }

    private static func hostKey(of call: CurlCall) -> CurlConnectionQueue.Host.Key {
        CurlConnectionQueue.Host.Key(origin: call.address.origin, canShare: false)
    }

    /// Opens connections, after a call was added, or another connection was opened or failed.
    private func openNext() {
        while let (pending, host) = openings.next() {
            if !open(pending, at: host) { openings.release(host) }
        }
    }

    /// Begins to open a connection for a call. Returns `false` after a failure, which is reported to the caller.
    private func open(_ pending: CurlPendingCall, at host: CurlConnectionQueue.Host) -> Bool {
        lastNumber += 1
        guard let group = openGroup(), let transfer = CurlTransfer(slot: lastNumber, loop: loop) else {
            pending.fail(with: .unavailable)
            return false
        }
        do {
            try transfer.beginConnecting(pending)
            guard group.add(transfer) else { throw TransportFailure.unavailable }
            group.openingCount += 1
        } catch {
            transfer.end(with: .failure(error))
            transfer.completion.take()?.deliver()
            return false
        }
        let upgrade = CurlUpgrade(transfer, of: pending, at: host, in: group, loop: loop)
        upgrades[transfer.slot] = upgrade
        if let due = upgrade.due { loop.clock.setAlarm(due) }
        return true
    }

    private func openGroup() -> CurlConnectionGroup? {
        if let last = groups.last, last.isOpen { return last }
        let group = CurlConnectionGroup(sockets: loop.sockets, clock: loop.clock)
        if let group { groups.append(group) }
        return group
    }

    /// Cancels a call whose handshake hasn't ended; has no effect on others.
    func cancel(_ call: CurlCall) {
        if let pending = openings.remove(call, of: Self.hostKey(of: call)) { return pending.fail(with: .cancelled) }
        guard let upgrade = upgrades.values.first(where: { $0.call === call }) else { return }
        interrupt(upgrade, with: .cancelled)
    }

    /// Handles an event if the socket belongs to one of these connections, and returns whether it does.
    func act(on event: CurlSockets.Event) -> Bool {
        if let upgrade = opened[Int(event.descriptor)] {
            perform(upgrade) { upgrade throws(TransportFailure) in
                try upgrade.act(flags: event.flags, buffer: self.buffer)
            }
            return true
        }
        guard let group = groups.first(where: { $0.descriptors.contains(event.descriptor) }) else { return false }
        group.act(on: event.descriptor, flags: event.flags)
        return true
    }

    func runTimers() {
        for group in groups { group.runTimer() }
    }

    /// Performs the work that the tasks of a connection requested.
    func work(_ channel: CurlChannel) {
        guard let upgrade = upgrades[channel.number] else { return }
        if upgrade.isInHandshake, channel.hasEndedHandshake { finish(upgrade, with: .closed) }
        perform(upgrade) { upgrade throws(TransportFailure) in try upgrade.work(buffer: self.buffer) }
    }

    /// Continues with the connections that libcurl opened.
    func finishConnecting() {
        var result = CURLE_OK
        for group in groups {
            while let easy = ccurl_multi_next_done(group.handle, &result) {
                guard let number = ccurl_private(easy)?.object(CurlTransfer.self).slot, let upgrade = upgrades[number]
                else { continue }
                upgrade.noteOpened()
                let result = result
                perform(upgrade) { upgrade throws(TransportFailure) in try upgrade.begin(after: result) }
                if upgrades[number] != nil { opened[Int(upgrade.descriptor)] = upgrade }
            }
        }
        groups.removeAll { $0.openingCount == 0 && !$0.isOpen }
    }

    /// Ends the handshakes that have timed out.
    func endTimedOut() {
        let (overdue, next) = openings.removeOverdue(at: loop.clock.now)
        for pending in overdue { pending.fail(with: .timedOut) }
        if let next { loop.clock.setAlarm(next) }
        for upgrade in upgrades.values {
            guard let due = upgrade.due else { continue }
            if due <= loop.clock.now {
                interrupt(upgrade, with: upgrade.transfer.timeoutFailure)
            } else {
                loop.clock.setAlarm(due)
            }
        }
    }

    func endAll(with failure: TransportFailure) {
        for pending in openings.removeAll() { pending.fail(with: failure) }
        for upgrade in upgrades.values { remove(upgrade, with: failure) }
    }

    private func perform(_ upgrade: CurlUpgrade, _ step: (CurlUpgrade) throws(TransportFailure) -> Void) {
        do throws(TransportFailure) { try step(upgrade) } catch { remove(upgrade, with: error) }
    }

    /// Ends the call, unless it has ended. The failure is for a caller without the connection.
    private func finish(_ upgrade: CurlUpgrade, with failure: TransportFailure) {
        guard upgrade.isInHandshake else { return }
        upgrade.transfer.end(with: .failure(failure))
        let completion = upgrade.transfer.completion.take()
        if !upgrade.isConnected { completion?.deliver() }
        openings.release(upgrade.host)
        openNext()
    }

    /// Closes a connection, unless its handshake has ended.
    private func interrupt(_ upgrade: CurlUpgrade, with failure: TransportFailure) {
        guard upgrade.channel.interruptHandshake(with: failure.error(for: upgrade.call.url)) else { return }
        remove(upgrade, with: failure)
    }

    /// Closes a connection.
    private func remove(_ upgrade: CurlUpgrade, with failure: TransportFailure) {
        upgrades[upgrade.transfer.slot] = nil
        opened[Int(upgrade.descriptor)] = nil
        upgrade.noteOpened()
        upgrade.channel.keepSocket()
        upgrade.group.remove(upgrade.transfer)
        upgrade.channel.end(with: failure.error(for: upgrade.call.url))
        finish(upgrade, with: failure)
    }
}
#endif
