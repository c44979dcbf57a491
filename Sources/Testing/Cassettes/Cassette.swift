// SPDX-License-Identifier: MIT
import TargetKit

/// The entries of a cassette, and their use. The folder or archive is read on first use.
package final class Cassette: Sendable {
    /// An entry that a call claimed. No other call can claim it. Unless the call uses the entry, it is returned with
    /// the last reference to the claim.
    final class Claim: Sendable {
        fileprivate let id: Int
        let item: CassetteItem
        /// Whether to send the call and replace the entry.
        let isRerecorded: Bool
        /// The cassette to which the entry is returned; `nil` if the entry was used or returned, or another call used
        /// it.
        private let owner: Locked<Cassette?>

        fileprivate init(_ id: Int, item: CassetteItem, isRerecorded: Bool = false, owner: Cassette?) {
            self.id = id
            self.item = item
            self.isRerecorded = isRerecorded
            self.owner = Locked(owner)
        }

        deinit {
            release()
        }

        /// Marks the entry as used.
        func use() {
            owner.withLock { $0 = nil }
        }

        /// Returns the entry to the cassette, unless it was used.
        func release() {
            let owner = owner.withLock { owner in
                defer { owner = nil }
                return owner
            }
            owner?.release(id, item: item, isRerecorded: isRerecorded)
        }
    }

    /// A recorded call.
    package struct Recording: Sendable {
        fileprivate let item: CassetteItem
        fileprivate let source: any CassetteSource

        /// The name of the entry.
        package var name: String { item.name }
        /// The status of the response; `nil` if there was none.
        package var status: Int? { item.document.response?.status }

        /// Reads the fields and the body of the response; `nil` if there was none.
        package func response() throws -> (headers: HTTPHeaders, body: Data)? {
            try source.outcome(of: item).response.map { ($0.headers, $0.body) }
        }
    }

    fileprivate struct State: Sendable {
        var isLoaded = false
        var items: [CassetteItem] = []
        /// The entries of an archive without a result.
        var skipped: [CassetteItem] = []
        /// The reasons why entries of an archive can't be read.
        var problems: [CassetteError] = []
        /// The entries of each key, in order, and the number of used ones at the start.
        var index: [String: (ids: [Int], usedCount: Int)] = [:]
        var used: Set<Int> = []
        var rerecorded: Set<String> = []
        var missing: [String] = []
    }

    let source: any CassetteSource
    /// The folder for recorded calls; `nil` for a cassette that is only replayed.
    private let folder: CassetteFolder?
    let comparison: RequestComparison
    /// The calls that may be recorded, in the order of their requests.
    let turns = RecordingTurns()
    private let state = Locked(State())

    package init(_ folder: URL, matching parts: [RequestPart], ignoring names: Set<String> = []) {
        let folder = CassetteFolder(url: folder)
        source = folder
        self.folder = folder
        comparison = RequestComparison(parts, ignoring: names)
    }

    /// Creates a cassette that is only replayed.
    init(_ source: any CassetteSource, matching parts: [RequestPart], ignoring names: Set<String> = []) {
        self.source = source
        folder = nil
        comparison = RequestComparison(parts, ignoring: names)
    }

    package var entries: [CassetteEntry] {
        get throws { try withState { $0.items.sorted { $0.number < $1.number }.map(\.entry) } }
    }

    var unusedEntries: [CassetteEntry] {
        get throws {
            try withState { state in
                state.items.enumerated().filter { !state.used.contains($0.offset) }.map(\.element)
                    .sorted { $0.number < $1.number }.map(\.entry)
            }
        }
    }

    var missingRequests: [String] { state.withLock { $0.missing } }

    func rerecord(_ entry: CassetteEntry) {
        guard folder != nil else { return }
        state.withLock { state in
            _ = state.rerecorded.insert(entry.name)
            guard let id = state.items.firstIndex(where: { $0.name == entry.name }) else { return }
            state.release(id, key: key(of: state.items[id]))
        }
    }

    /// Takes the first unused entry that matches; `nil` if there is none.
    ///
    /// - Parameter repeats: Whether to return the last used entry if there is no other.
    func claim(_ request: RedactedRequest, repeats: Bool) throws -> Claim? {
        let key = comparison.key(source.comparable(request))
        var last = -1
        while let (id, item) = try withState({ $0.nextUnused(key, after: last) }) {
            last = id
            guard try matches(request, item: item) else { continue }
            let claim = state.withLock { state -> Claim? in
                guard state.used.insert(id).inserted else { return nil }
                let isRerecorded = state.rerecorded.remove(item.name) != nil
                return Claim(id, item: item, isRerecorded: isRerecorded, owner: self)
            }
            if let claim { return claim }
        }
        guard repeats else { return nil }
        let used = try withState { state in (state.index[key]?.ids ?? []).map { ($0, state.items[$0]) } }
        return try used.last { try matches(request, item: $0.1) }.map { Claim($0.0, item: $0.1, owner: nil) }
    }

    private func release(_ id: Int, item: CassetteItem, isRerecorded: Bool) {
        state.withLock { state in
            state.release(id, key: key(of: item))
            if isRerecorded { state.rerecorded.insert(item.name) }
        }
    }

    /// Writes a call as a new entry, or replaces the claimed one.
    func write(
        _ request: RedactedRequest,
        outcome: RecordedOutcome,
        to claim: Claim?,
        turn: RecordingTurn
    ) throws {
        guard let folder else { throw CassetteError("\(source.path) is only replayed") }
        let item = try folder.write(request, outcome: outcome, replacing: claim?.item, turn: turn)
        state.withLock { state in
            if let claim { state.items[claim.id] = item } else { state.append(item, key: key(of: item), isUsed: true) }
        }
        turn.end()
        claim?.use()
    }

    /// The recorded calls that match, used or not, in order.
    package func recordings(matching request: RedactedRequest) throws -> [Recording] {
        let key = comparison.key(source.comparable(request))
        let items = try withState { state in (state.index[key]?.ids ?? []).map { state.items[$0] } }
        return try items.filter { try matches(request, item: $0) }.map { Recording(item: $0, source: source) }
    }

    private func matches(_ request: RedactedRequest, item: CassetteItem) throws -> Bool {
        try differences(of: request, from: item).isEmpty
    }

    private func differences(of request: RedactedRequest, from item: CassetteItem) throws -> [String] {
        let recorded = try source.request(of: item, withBody: comparison.comparesBody)
        var request = source.comparable(request)
        if item.exchange?.isRequestBodyKnown == false { request.body = recorded.body }
        return comparison.differences(of: request, from: recorded)
    }

    private func key(of item: CassetteItem) -> String { comparison.key(item.document.request) }

    private func withState<Value>(_ body: (inout State) throws -> Value) throws -> Value {
        try state.withLock { state in
            if !state.isLoaded {
                for item in try source.items() {
                    if let problem = item.problem {
                        state.problems.append(problem)
                    } else if item.isReplayable {
                        state.append(item, key: key(of: item), isUsed: false)
                    } else {
                        state.skipped.append(item)
                    }
                }
                state.isLoaded = true
            }
            return try body(&state)
        }
    }
}

extension Cassette.State {
    fileprivate mutating func append(_ item: CassetteItem, key: String, isUsed: Bool) {
        if isUsed { used.insert(items.count) }
        index[key, default: ([], 0)].ids.append(items.count)
        items.append(item)
    }

    /// The first unused entry of a key after another one.
    fileprivate mutating func nextUnused(_ key: String, after last: Int) -> (Int, CassetteItem)? {
        guard let (ids, count) = index[key] else { return nil }
        // Many calls can have the same key, so used entries at the start aren't visited again.
        var usedCount = count
        while usedCount < ids.count, used.contains(ids[usedCount]) { usedCount += 1 }
        index[key]?.usedCount = usedCount
        guard let id = ids[usedCount...].first(where: { $0 > last && !used.contains($0) }) else { return nil }
        return (id, items[id])
    }

    fileprivate mutating func release(_ id: Int, key: String) {
        used.remove(id)
        index[key]?.usedCount = 0
    }
}

extension CassetteItem {
    fileprivate var number: Int { CassetteFolder.number(ofDocument: name + ".json") ?? 0 }

    var entry: CassetteEntry {
        CassetteEntry(
            name: name,
            method: HTTPMethod(rawValue: document.method),
            url: document.url,
            statusCode: document.response?.status
        )
    }
}

// MARK: - Missing entries

extension Cassette {
    /// The number of entries that are compared completely to find the closest one.
    private static let comparedCount = 50
    /// The number of entries that can't be read in an error.
    private static let problemCount = 3

    /// The error for a request without an entry, which is counted as missing.
    package func missing(_ request: RedactedRequest) throws -> CassetteError {
        let (items, skipped, problems) = try withState { state in
            state.missing.append(request.line)
            return (state.items, state.skipped, state.problems)
        }
        let error = try missing(request, from: items, skipped: skipped)
        guard !problems.isEmpty else { return error }
        let other = problems.count - Self.problemCount
        return CassetteError(
            [error.description, "These entries can't be read:"] + problems.prefix(Self.problemCount).map { "  \($0)" }
                + (other > 0 ? ["  and \(other) more"] : [])
        )
    }

    private func missing(
        _ request: RedactedRequest,
        from items: [CassetteItem],
        skipped: [CassetteItem]
    ) throws -> CassetteError {
        let line = "the cassette \(source.path) has no entry for \(request.line)"
        let key = comparison.key(source.comparable(request))
        if let item = skipped.first(where: { self.key(of: $0) == key }) {
            return CassetteError("\(line) with a response; \(item.name) was blocked, cancelled, or failed")
        }
        guard !items.isEmpty else { return CassetteError("\(line); it is empty") }
        // Entries with the same method and path come first.
        let likely = items.enumerated()
            .sorted { one, other in
                let ranks = (rank(one.element, request: request), rank(other.element, request: request))
                return ranks.0 == ranks.1 ? one.offset < other.offset : ranks.0 > ranks.1
            }
            .prefix(Self.comparedCount)
        var closest: (name: String, lines: [String])?
        for (_, item) in likely {
            let lines = try differences(of: request, from: item)
            if lines.isEmpty {
                return CassetteError("\(line): all matching entries have been used; the last is \(item.name)")
            }
            if closest.map({ lines.count < $0.lines.count }) ?? true { closest = (item.name, lines) }
        }
        guard let closest else { return CassetteError(line) }
        return CassetteError([line + "; the closest is \(closest.name):"] + closest.lines.map { "  " + $0 })
    }

    private func rank(_ item: CassetteItem, request: RedactedRequest) -> Int {
        (item.document.request.path == request.path ? 2 : 0) + (item.document.method == request.method ? 1 : 0)
    }
}
