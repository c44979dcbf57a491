// SPDX-License-Identifier: MIT
import Fixtures
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The plugins of a real app together: each operation, in each state of the network and the server, at each point of an
/// installation's life. The fixture has a line for each, with what the user sees, what the server sees, and what is on
/// the disk.
@Suite("The plugins of an app", .throttled, .timeLimit(.minutes(10)))
struct AppTableTests {
    @Test(
        "Each operation has the result in the table",
        arguments: Matrix.pairs(AppState.allCases, AppHistory.allCases)
    )
    func operations(state: AppState, history: AppHistory) async throws {
        let table = try AppTable()
        for operation in AppOperation.allCases {
            let cell = AppCell(state: state, history: history, operation: operation)
            let result = try await cell.result()
            let expected = try #require(table.results[cell.name], "the table has no line \(cell.name)")
            #expect(result == expected, "\(cell.name)")
        }
    }

    @Test("The table has a line for each operation")
    func lines() throws {
        let count = AppState.allCases.count * AppHistory.allCases.count * AppOperation.allCases.count
        #expect(try AppTable().results.count == count)
        #expect(count >= 150)
    }
}

/// The fixture `app-table.txt`: a name, and what the user, the server and the disk have, between bars.
private struct AppTable {
    private(set) var results: [String: String] = [:]

    init() throws {
        let text = try Fixture(shared: "app-table.txt").text()
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "|", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2 else { throw CocoaError(.fileReadCorruptFile) }
            results[parts[0]] = parts[1]
        }
    }
}

/// What has happened to the installation before the operation.
enum AppHistory: String, CaseIterable, Sendable {
    case sameLaunch, relaunch
    /// Anna has signed out, and Bob has signed in.
    case otherUser
    /// Another process with the same files performs the operation, while the first one runs.
    case otherProcess
}

enum AppOperation: String, CaseIterable, Sendable {
    /// The list, of which a fresh response, a stale one, or none is stored.
    case fresh, stale, unstored
    /// An order, through the outbox.
    case order
    /// A photo and a film, through the queue.
    case upload, download

    var storesList: Bool { self == .fresh || self == .stale }
    var isList: Bool { storesList || self == .unstored }
    var isTransfer: Bool { self == .upload || self == .download }
}

/// One operation in one state after one history.
struct AppCell: Sendable {
    let state: AppState
    let history: AppHistory
    let operation: AppOperation

    var name: String { "\(state) \(history) \(operation)" }

    func result() async throws -> String {
        let folder = try TemporaryFolder()
        let server = AppServer()
        let connectivity = ManualConnectivity(.online(.wifi, isExpensive: false))
        let cell = self
        let (clock, isDone) = (server.clock, Locked(false))
        let run = Task {
            defer { isDone.withLock { $0 = true } }
            return try await cell.run(folder.url, server, connectivity)
        }
        while !Task.isCancelled, !isDone.withLock({ $0 }) {
            // The time stands once a transfer's first attempt has ended: the task that waits for its state may see it
            // late, and further attempts would make it another one.
            if server.attempts.count > 0 { break }
            let limit = operation.isTransfer ? 1 : 10
            do { try await clock.runUntilIdle(limit: limit) } catch is CancellationError { break } catch {}
        }
        return try await withTaskCancellationHandler {
            try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    private func run(_ folder: URL, _ server: AppServer, _ connectivity: ManualConnectivity) async throws -> String {
        var first: ShopApp? = try ShopApp(folder, server, connectivity, launch: 1)
        try await first?.signIn("anna")
        if operation.storesList || history == .otherUser {
            _ = await first?.list()
            await first?.waitForWrites()
        }
        let app: ShopApp
        switch history {
        case .sameLaunch, .otherUser:
            guard let first else { throw CancellationError() }
            app = first
            if history == .otherUser {
                try await app.signOut()
                try await app.signIn("bob")
            }
        case .relaunch:
            first = nil
            app = try ShopApp(folder, server, connectivity, launch: 2)
        case .otherProcess: app = try ShopApp(folder, server, connectivity, launch: 2)
        }
        if operation == .stale { server.clock.advance(by: .seconds(120)) }
        server.set(state)
        if state == .offline { connectivity.set(.offline) }
        let file = folder.appendingPathComponent("file")
        let start = server.clock.now
        var user: String
        switch operation {
        case .fresh, .stale, .unstored: user = await app.list()
        case .order: user = await app.order()
        case .upload:
            try Data("photo".utf8).write(to: file)
            user = await app.transfer(.upload(file))
        case .download: user = await app.transfer(.film(file))
        }
        let seconds = app.ends.elements.last.map { start.duration(to: $0).components.seconds } ?? 0
        // A refresh does not belong to its call, so the clock may move while it is at work.
        let isRefreshed = [.expired, .revoked, .rejectedInBody].contains(state)
        if seconds > 0, operation.isList, !isRefreshed { user += ", after \(seconds) s" }
        let seen = server.log.isEmpty ? "nothing" : server.log.joined(separator: ", ")
        var disk = try await disk(of: app, server, file)
        if operation.isList {
            server.set(.offline)
            connectivity.set(.offline)
            disk += ", offline then \(await app.list())"
        }
        withExtendedLifetime(first) {}
        return "\(user)\(app.signOuts.elements.map { ", \($0)" }.joined()) | \(seen) | \(disk)"
    }

    private func disk(of app: ShopApp, _ server: AppServer, _ file: URL) async throws -> String {
        var things: [String] = []
        // The time limit of a refresh may end before it has stored the credential.
        for _ in 0..<10_000 {
            guard let token = try await app.store.load() else { break }
            let isNext = server.log.contains { $0.hasSuffix(" \(token.user)-\(token.number + 1)") }
            if !isNext, try await token.number == app.authentication.credential?.number { break }
            await Task.yield()
        }
        if let token = try await app.store.load() { things.append("\(token.user)-\(token.number)") }
        if !app.outbox.entries.isEmpty { things.append("\(app.outbox.entries.count) order") }
        if operation == .download, let data = try? Data(contentsOf: file) {
            things.append("file \(String(decoding: data, as: UTF8.self))")
        }
        return things.isEmpty ? "nothing" : things.joined(separator: ", ")
    }
}
