// SPDX-License-Identifier: MIT

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The descriptors for which a thread waits, each with a token. It uses `poll`, which Linux and Darwin have.
struct Poller {
    /// The events to wait for on a descriptor. A closed peer is always reported.
    struct Interest: OptionSet {
        let rawValue: Int16
        static let reading = Interest(rawValue: Int16(POLLIN))
        static let writing = Interest(rawValue: Int16(POLLOUT))
        #if os(Linux)
        /// The peer sent its FIN. Bytes before it may be unread (POLLRDHUP of <poll.h>).
        static let peerClosing = Interest(rawValue: 0x2000)
        #else
        static let peerClosing: Interest = []
        #endif
    }

    /// An event on a descriptor.
    struct Event {
        let token: Int
        let isReadable: Bool
        let isWritable: Bool
        let isPeerClosing: Bool
        let isBroken: Bool
    }

    private var entries: [pollfd] = []
    private var tokens: [Int] = []
    private var places: [Int: Int] = [:]

    mutating func add(_ descriptor: Int32, token: Int, interest: Interest) {
        places[token] = entries.count
        entries.append(pollfd(fd: descriptor, events: interest.rawValue, revents: 0))
        tokens.append(token)
    }

    mutating func setInterest(_ interest: Interest, token: Int) {
        guard let place = places[token], entries[place].events != interest.rawValue else { return }
        entries[place].events = interest.rawValue
    }

    mutating func remove(token: Int) {
        guard let place = places.removeValue(forKey: token) else { return }
        let lastEntry = entries.removeLast()
        let lastToken = tokens.removeLast()
        guard place < entries.count else { return }
        entries[place] = lastEntry
        tokens[place] = lastToken
        places[lastToken] = place
    }

    /// Waits for events, without a limit if `milliseconds` is -1.
    mutating func wait(milliseconds: Int32) -> [Event] {
        var left = poll(&entries, nfds_t(entries.count), milliseconds)
        var events: [Event] = []
        guard left > 0 else { return events }
        events.reserveCapacity(Int(left))
        let tokens = tokens
        // A loop over the buffer, because the array's subscript is too slow in debug builds with 5,000 entries.
        entries.withUnsafeBufferPointer { entries in
            var index = 0
            while left > 0, index < entries.count {
                let found = entries[index].revents
                if found != 0 {
                    left -= 1
                    events.append(Self.event(found, token: tokens[index]))
                }
                index += 1
            }
        }
        return events
    }

    private static func event(_ found: Int16, token: Int) -> Event {
        Event(
            token: token,
            isReadable: found & Int16(POLLIN) != 0,
            isWritable: found & Int16(POLLOUT) != 0,
            isPeerClosing: found & (Interest.peerClosing.rawValue | Int16(POLLHUP)) != 0,
            isBroken: found & Int16(POLLERR | POLLNVAL) != 0
        )
    }
}
