// SPDX-License-Identifier: MIT
import TargetKit

/// The cookies of a store, by domain.
struct CookieJar: Sendable {
    /// RFC 6265 §6.1 requires at least these limits.
    static let domainLimit = 50
    static let totalLimit = 3000

    private struct Entry: Sendable {
        var cookie: Cookie
        /// The order in which the cookies were first stored.
        var number: UInt64
        var lastUse: UInt64
    }

    private var entries: [String: [Entry]] = [:]
    private var count = 0
    private var ticks: UInt64 = 0
    /// Whether a persistent cookie changed since this was set to `false`.
    var hasUnsavedChanges = false

    var isEmpty: Bool { count == 0 }

    /// The cookies that haven't expired, oldest first.
    func cookies(at now: Date) -> [Cookie] {
        let kept = entries.values.flatMap { $0.filter { !$0.cookie.isExpired(at: now) } }
        return kept.ordered { $0.number < $1.number }.map(\.cookie)
    }

    /// The cookies for a request, in the order of RFC 6265 §5.4, with longer paths and then older cookies first.
    mutating func cookies(for origin: CookieOrigin, at now: Date) -> [Cookie] {
        var found: [Entry] = []
        ticks += 1
        for domain in origin.host.nameAndParents {
            guard let place = entries.index(forKey: domain) else { continue }
            for index in entries.values[place].indices {
                let entry = entries.values[place][index]
                guard !entry.cookie.isHostOnly || domain == origin.host.name,
                    origin.isSecure || !entry.cookie.isSecure, !entry.cookie.isExpired(at: now),
                    CookiePath.matches(origin.path, cookiePath: entry.cookie.path)
                else { continue }
                entries.values[place][index].lastUse = ticks
                found.append(entry)
            }
        }
        guard found.count > 1 else { return found.map(\.cookie) }
        return found.ordered(by: Self.isSentBefore).map(\.cookie)
    }

    private static func isSentBefore(_ left: Entry, _ right: Entry) -> Bool {
        let lengths = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
        if lengths.0 != lengths.1 { return lengths.0 > lengths.1 }
        if left.cookie.created != right.cookie.created { return left.cookie.created < right.cookie.created }
        return left.number < right.number
    }

    /// Inserts a cookie, or removes the cookie that it replaces if it has expired. Then applies the limits.
    ///
    /// - Parameter keepingCreation: Whether the cookie keeps the creation date of the replaced one (§5.3, step 11.3).
    mutating func insert(_ cookie: Cookie, keepingCreation: Bool, at now: Date) {
        ticks += 1
        let tick = ticks
        change(cookie.domain) { list, isUnsaved in
            var entry = Entry(cookie: cookie, number: tick, lastUse: tick)
            let old = list.firstIndex { $0.cookie.isReplaced(by: cookie) }
            if let old {
                entry.number = list[old].number
                if keepingCreation { entry.cookie.created = list[old].cookie.created }
                let isInFile = cookie.expires != nil && !cookie.isExpired(at: now)
                isUnsaved = list[old].cookie != entry.cookie && (isInFile || list[old].cookie.expires != nil)
                list[old] = entry
            } else if !cookie.isExpired(at: now) {
                isUnsaved = cookie.expires != nil
                list.append(entry)
            }
            list.removeAll { $0.cookie.isExpired(at: now) }
            if list.count > Self.domainLimit { isUnsaved = Self.evict(from: &list) || isUnsaved }
        }
        keepTotal(at: now)
    }

    /// Removes cookies, unless they have changed.
    mutating func remove(_ cookies: [Cookie]) {
        for cookie in cookies {
            change(cookie.domain) { list, isUnsaved in
                guard let index = list.firstIndex(where: { $0.cookie == cookie }) else { return }
                isUnsaved = list.remove(at: index).cookie.expires != nil
            }
        }
    }

    mutating func removeAll() {
        entries = [:]
        count = 0
        hasUnsavedChanges = true
    }

    /// Whether a cookie set over http would hide a Secure one with the same name that is sent to the same URLs (RFC
    /// 6265bis §5.7, "leave Secure cookies alone").
    func wouldHideSecureCookie(_ cookie: Cookie, at now: Date) -> Bool {
        guard let domain = CookieHost(cookie.domain) else { return false }
        return entries.contains { key, list in
            guard let other = CookieHost(key), domain.matches(other) || other.matches(domain) else { return false }
            return list.contains {
                $0.cookie.isSecure && $0.cookie.name == cookie.name && !$0.cookie.isExpired(at: now)
                    && CookiePath.matches(cookie.path, cookiePath: $0.cookie.path)
            }
        }
    }
}

extension CookieJar {
    private mutating func change(_ domain: String, body: (inout [Entry], inout Bool) -> Void) {
        // Removed, so that the list is changed in place without a copy.
        var list = entries.removeValue(forKey: domain) ?? []
        count -= list.count
        var isUnsaved = false
        body(&list, &isUnsaved)
        count += list.count
        if !list.isEmpty { entries[domain] = list }
        if isUnsaved { hasUnsavedChanges = true }
    }

    /// Removes the least recently used cookie, preferring cookies that aren't Secure (RFC 6265 §5.3, RFC 6265bis).
    /// Returns whether it was persistent.
    private static func evict(from list: inout [Entry]) -> Bool {
        let oldest = list.indices.min {
            (list[$0].cookie.isSecure ? 1 : 0, list[$0].lastUse) < (list[$1].cookie.isSecure ? 1 : 0, list[$1].lastUse)
        }
        return oldest.map { list.remove(at: $0).cookie.expires != nil } ?? false
    }

    /// Applies the total limit by removing expired cookies, and then the least recently used one.
    private mutating func keepTotal(at now: Date) {
        guard count > Self.totalLimit else { return }
        for domain in Array(entries.keys) {
            change(domain) { list, _ in list.removeAll { $0.cookie.isExpired(at: now) } }
        }
        guard count > Self.totalLimit else { return }
        let oldest = entries.values.joined().min { $0.lastUse < $1.lastUse }
        if let oldest { remove([oldest.cookie]) }
    }
}
