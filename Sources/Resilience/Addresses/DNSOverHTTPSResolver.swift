// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

/// Looks up the addresses of hosts with DNS over HTTPS (RFC 8484), so that no other server can read the names or forge
/// the addresses.
///
/// ```swift
/// let resolver = DNSOverHTTPSResolver(server: URL(string: "https://223.5.5.5/dns-query")!)
/// let transport = CurlTransport(resolver: resolver.addresses)
/// ```
///
/// Addresses are remembered until the server's TTL ends, for at most 1,024 hosts. Calls that need the addresses of a host
/// at the same time share one lookup.
///
/// IPv6 and IPv4 addresses are queried at the same time. If the server answers only one of the queries, its addresses are
/// used after 50 milliseconds (RFC 8305 §3), and a later answer is used by the calls after it.
///
/// Names that only the device and its network know stay there, for the system's lookup: `localhost` (RFC 6761 §6.3),
/// names in `.localhost` and `.local` (RFC 6762 §3), and names without a dot.
public final class DNSOverHTTPSResolver: Sendable {
    private typealias Lookup = SharedOutcome<[String]?>

    private struct Entry: Sendable {
        let lookup: Lookup
        /// The time when its answer expires; `nil` while there is none.
        var end: Duration?
    }

    private enum Event: Sendable {
        case answer(DNSMessage.RecordType, DNSMessage.Answer?)
        case delayEnded
    }

    private static let hostLimit = 1024
    /// The time to wait for the other kind of addresses once one is known (RFC 8305 §3).
    private static let resolutionDelay = Duration.milliseconds(50)

    private let server: URL
    private let transport: any Transport
    private let timeout: Duration
    private let fallsBackToSystem: Bool
    private let clock: any Clock<Duration>
    private let elapsed: ElapsedTime
    private let entries = Locked<[String: Entry]>([:])

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - server: The URL of the DNS server, without `dns` in its query. With an IP address as its host, it needs no
    ///     lookup itself.
    ///   - transport: Sends the queries; default: the system's. Don't pass a transport that uses this resolver for other
    ///     hosts than the server's.
    ///   - timeout: The maximum time of a query; default: 5 seconds.
    ///   - fallsBackToSystem: Whether the system looks up the host if the server doesn't answer; default `true`. If
    ///     `false`, the call fails with `.cannotFindHost`.
    ///   - clock: Measures how long addresses are valid, and the 50 milliseconds; default: the continuous clock.
    public init(
        server: URL,
        transport: any Transport = SystemTransport.shared,
        timeout: Duration = .seconds(5),
        fallsBackToSystem: Bool = true,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.server = server
        self.transport = transport
        self.timeout = timeout
        self.fallsBackToSystem = fallsBackToSystem
        self.clock = clock
        elapsed = ElapsedTime(clock)
    }

    /// Returns the addresses of a host, IPv6 before IPv4; an empty array if it has none; `nil` if the system should look
    /// it up.
    ///
    /// - Parameters:
    ///   - host: The name of the host, in ASCII.
    ///   - port: Ignored, so that the method can be passed as a transport's resolver.
    public func addresses(of host: String, port: Int) async -> [String]? {
        let host = Self.withoutFinalDot(host.lowercased())
        guard host != Self.withoutFinalDot(server.host()?.lowercased() ?? ""), !Self.isLocal(host) else { return nil }
        let now = elapsed.current
        let (lookup, isNew) = entries.withLock { entries -> (Lookup, Bool) in
            if let entry = entries[host], entry.end.map({ now < $0 }) ?? true { return (entry.lookup, false) }
            let lookup = Lookup()
            entries[host] = Entry(lookup: lookup)
            return (lookup, true)
        }
        // Not cancelled with this call, because others may wait for it.
        if isNew { Task.detached { await self.perform(lookup, of: host) } }
        return try? await lookup.value()
    }

    /// Forgets all addresses, for example after the device joined another network. The answers of lookups that have
    /// begun are returned to the calls that wait for them, and aren't remembered.
    public func removeAll() {
        entries.withLock { $0 = [:] }
    }

    private static func withoutFinalDot(_ host: String) -> String {
        host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    private static func isLocal(_ host: String) -> Bool {
        let labels = host.split(separator: ".")
        return labels.count < 2 || labels.last == "local" || labels.last == "localhost"
    }

    private func perform(_ lookup: Lookup, of host: String) async {
        var answers: [DNSMessage.RecordType: DNSMessage.Answer?] = [:]
        await withTaskGroup(of: Event.self) { group in
            for type in [DNSMessage.RecordType.aaaa, .a] {
                group.addTask { .answer(type, await self.answer(type, of: host)) }
            }
            for await event in group {
                switch event {
                case .answer(let type, let answer):
                    answers[type] = .some(answer)
                    if answers.count == 2 {
                        group.cancelAll()
                    } else if answer?.addresses.isEmpty == false {
                        group.addTask {
                            try? await self.clock.wait(for: Self.resolutionDelay)
                            return .delayEnded
                        }
                    }
                case .delayEnded:
                    if answers.count < 2 { lookup.settle(Self.addresses(in: answers)) }
                }
            }
        }
        finish(lookup, of: host, with: answers)
    }

    private static func addresses(in answers: [DNSMessage.RecordType: DNSMessage.Answer?]) -> [String] {
        [.aaaa, .a].flatMap { answers[$0]??.addresses ?? [] }
    }

    /// Remembers addresses of both kinds, and returns those that are known to the calls that wait.
    private func finish(
        _ lookup: Lookup,
        of host: String,
        with answers: [DNSMessage.RecordType: DNSMessage.Answer?]
    ) {
        let addresses = Self.addresses(in: answers)
        let known = answers.values.compactMap(\.self)
        let isComplete = known.count == 2
        let isAnswered = isComplete || !addresses.isEmpty || !fallsBackToSystem
        lookup.settle(isAnswered ? addresses : nil)
        entries.withLock { entries in
            // Forgotten, and perhaps looked up again.
            guard entries[host]?.lookup === lookup else { return }
            let now = elapsed.current
            if entries.count >= Self.hostLimit {
                entries = entries.filter { $0.value.end.map { now < $0 } ?? true }
            }
            let mayRemember = isComplete && !addresses.isEmpty && entries.count < Self.hostLimit
            guard mayRemember, let seconds = known.compactMap(\.seconds).min() else {
                entries[host] = nil
                return
            }
            // The first one may have been settled with the addresses of one kind.
            let complete = Lookup()
            complete.settle(addresses)
            entries[host] = Entry(lookup: complete, end: now + .seconds(Int64(seconds)))
        }
    }

    /// The server's answer; `nil` if there is none.
    private func answer(_ type: DNSMessage.RecordType, of host: String) async -> DNSMessage.Answer? {
        guard let query = DNSMessage.query(type, of: host) else { return nil }
        let text = query.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=",
            with: ""
        )
        var request = URLRequest(url: server.appending(queryItems: [URLQueryItem(name: "dns", value: text)]))
        request.setValue("application/dns-message", forHTTPHeaderField: "Accept")
        var call = TransportRequest(urlRequest: request)
        call.destination = .memory(limit: Int(UInt16.max))
        call.timeout = timeout
        guard let response = try? await transport.send(call), response.head.statusCode == 200,
            response.head.headers[.contentType]?.mediaType == "application/dns-message",
            case .data(let data) = response.body, var answer = try? DNSMessage.answer(data, to: type, of: host)
        else { return nil }
        // The time in caches on the way (RFC 8484 §5.1).
        let age = Self.age(response.head.headers)
        answer.seconds = answer.seconds.map { $0 > age ? $0 - age : 0 }
        return answer
    }

    /// The seconds in `Age`, of which more than 2³¹ count as 2³¹ (RFC 9111 §1.2.2).
    private static func age(_ headers: HTTPHeaders) -> UInt32 {
        guard let digits = headers.values(for: "Age").first?.listElements.first, digits.utf8.allSatisfy(\.isDigit)
        else {
            return 0
        }
        return min(UInt32(digits) ?? .max, 1 << 31)
    }
}
