// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit
import TargetKitWebSocket
import WebSocketPeers

/// The memory of 1,000 open WebSockets on one loop.
struct MemoryFigures {
    private static let count = 1000

    let server: Server
    /// The memory of as many WebSockets of libcurl, in bytes.
    private let memoryInC: Int

    /// Measures libcurl in a process of its own, which has to begin before this one has several threads.
    init(server: Server) {
        self.server = server
        memoryInC = websocket_curl_memory(Int32(server.port), Int32(Self.count))
    }

    func add(to table: Table) throws {
        guard memoryInC > 0 else { throw WrongResult(what: "no WebSockets of libcurl in C") }
        for inFlight in [64, Self.count] {
            let (memory, threadCount) = try measureInOtherProcess(inFlight: inFlight)
            let each = Double(memory) / Double(Self.count) / 1024
            let inC = (Double(memoryInC) / Double(Self.count) / 1024).rounded(.up)
            table.add(
                inFlight < Self.count ? "1,000 WebSockets, opened by \(inFlight) tasks" : "1,000 opened at once",
                "\(Int(each.rounded(.up))) KiB each, \(threadCount) more threads",
                "\(Int(inC)) KiB in C on libcurl",
                figure: each,
                goal: .atMost(30)
            )
        }
    }

    /// Runs this program with ``report(inFlight:server:)``: memory that was freed would be used again here.
    private func measureInOtherProcess(inFlight: Int) throws -> (memory: Int, threadCount: Int) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["open", String(inFlight)]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let numbers = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard numbers.count == 2 else { throw WrongResult(what: "no memory of WebSockets") }
        return (numbers[0], numbers[1])
    }

    /// Opens the WebSockets, and prints their memory in bytes and the number of new threads.
    static func report(inFlight: Int, server: Server) async throws {
        try raiseFileLimit()
        // What the first one allocates for all: threads, libcurl, the loop.
        try await server.open("/idle").close()
        let before = ProcessFigures.residentBytes
        let threads = ProcessFigures.threadCount
        let sockets = Sockets()
        try await makeCalls(count, inFlight: inFlight) { await sockets.add(try await server.open("/idle")) }
        print(ProcessFigures.residentBytes - before, ProcessFigures.threadCount - threads)
        await keep(sockets.all)
    }

    private static func raiseFileLimit() throws {
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

private actor Sockets {
    private(set) var all: [WebSocket] = []

    func add(_ socket: WebSocket) {
        all.append(socket)
    }
}
