// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitWebSocket

/// The memory of 1,000 open WebSockets on one loop.
struct MemoryFigures {
    private static let count = 1000

    let server: Server

    func add(to table: Table) async throws {
        try raiseFileLimit()
        // What the first one allocates for all: threads, libcurl, the loop.
        try await server.open("/idle").close()
        let before = ProcessFigures.residentBytes
        let threads = ProcessFigures.threadCount
        let sockets = try await withThrowingTaskGroup(of: WebSocket.self) { group in
            for _ in 0..<Self.count { group.addTask { try await server.open("/idle") } }
            return try await group.reduce(into: [WebSocket]()) { $0.append($1) }
        }
        let each = Double(ProcessFigures.residentBytes - before) / Double(Self.count) / 1024
        let newThreads = ProcessFigures.threadCount - threads
        table.add(
            "1,000 WebSockets: memory of each",
            "\(Int(each.rounded(.up))) KiB",
            "\(newThreads) more threads",
            figure: each,
            goal: .atMost(30)
        )
        keep(sockets)
    }

    private func raiseFileLimit() throws {
        var limit = rlimit()
        #if canImport(Glibc)
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let kind = RLIMIT_NOFILE
        #endif
        getrlimit(kind, &limit)
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 8192))
        guard setrlimit(kind, &limit) == 0 else { throw WrongResult(what: "the limit of open files") }
    }
}
