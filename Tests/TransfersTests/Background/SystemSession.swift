// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting
import TestSupport

import PluginsTestSupport
@testable import TargetKit
@testable import TargetKitTransfers

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A background session of a system, whose tasks outlive the transfers of one launch. The test says what becomes of
/// them.
final class SystemSession: BackgroundTasks {
    private struct Entry: Sendable {
        let name: BackgroundTask.Name
        let work: BackgroundTask.Work
        var state = BackgroundTask.State.suspended
    }

    private let entries = Locked<[Entry]>([])
    /// Lists wait while it is closed.
    let listing: Gate
    /// The identifiers of the tasks that were started.
    let started = Recorder<Int>()
    let cancelled = Recorder<Int>()
    /// The data that continues a cancelled download.
    let resumption: Data?

    init(resumption: Data? = nil, listsAtOnce: Bool = true) {
        self.resumption = resumption
        listing = Gate()
        if listsAtOnce { listing.open() }
    }

    var count: Int { entries.withLock(\.count) }

    func list(_ receive: @escaping @Sendable ([BackgroundTask]) -> Void) {
        Task {
            await listing.wait()
            receive((0..<count).compactMap { task($0) })
        }
    }

    func make(_ work: BackgroundTask.Work, named name: BackgroundTask.Name) -> BackgroundTask {
        let identifier = entries.withLock { entries in
            entries.append(Entry(name: name, work: work))
            return entries.count - 1
        }
        return BackgroundTask(self, identifier, name, .suspended)
    }

    func task(_ identifier: Int) -> BackgroundTask? {
        entries.withLock { entries in
            BackgroundTask(self, identifier, entries[identifier].name, entries[identifier].state)
        }
    }

    func name(_ identifier: Int) -> BackgroundTask.Name { entries.withLock { $0[identifier].name } }
    func work(_ identifier: Int) -> BackgroundTask.Work { entries.withLock { $0[identifier].work } }

    func set(_ state: BackgroundTask.State, of identifier: Int) {
        entries.withLock { $0[identifier].state = state }
        switch state {
        case .running: started.append(identifier)
        case .canceling: cancelled.append(identifier)
        case .suspended, .completed: break
        }
    }

    /// Ends a task with a response, and tells the transfers.
    func finish(_ identifier: Int, _ body: String, in transfers: BackgroundTransfers, status: Int = 200) {
        set(.completed, of: identifier)
        let name = name(identifier)
        if !body.isEmpty { transfers.receive(Data(body.utf8), of: identifier, named: name) }
        transfers.end(identifier, named: name, with: .success(ResponseHead(statusCode: status)))
    }

    /// Ends a task with an error, and tells the transfers.
    func fail(_ identifier: Int, _ code: URLError.Code, in transfers: BackgroundTransfers, resumption: Data? = nil) {
        set(.completed, of: identifier)
        transfers.end(identifier, named: name(identifier), with: .failure(URLError(code)), resumption: resumption)
    }
}

extension BackgroundTask {
    fileprivate init(_ session: SystemSession, _ identifier: Int, _ name: Name, _ state: State) {
        self.init(
            identifier: identifier,
            name: name,
            state: state,
            resume: { session.set(.running, of: identifier) },
            cancel: { receive in
                session.set(.canceling, of: identifier)
                receive(session.resumption)
            }
        )
    }
}
