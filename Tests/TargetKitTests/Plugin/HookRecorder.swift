// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin that records each of its hooks together with the context in which it was called.
struct HookRecorder: Plugin {
    /// One call of a hook.
    struct Entry: Sendable {
        var hook: String
        var context: RequestContext
    }

    /// The calls of all plugins that share this list, in their order.
    let entries: Recorder<Entry>
    let place: PluginPlace
    /// What the names of the hooks begin with.
    private let prefix: String

    init(_ prefix: String = "", place: PluginPlace = .observation, entries: Recorder<Entry> = Recorder()) {
        self.prefix = prefix
        self.place = place
        self.entries = entries
    }

    /// The hooks of each context, in the order of the contexts' first hooks.
    var hooksOfContexts: [[String]] {
        var order: [RequestContext.ID] = []
        var hooks: [RequestContext.ID: [String]] = [:]
        for entry in entries.elements {
            if hooks[entry.context.id] == nil { order.append(entry.context.id) }
            hooks[entry.context.id, default: []].append(entry.hook)
        }
        return order.map { hooks[$0] ?? [] }
    }

    /// The names of all hooks, without regard to the context.
    var hooks: [String] { entries.elements.map(\.hook) }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        note("prepare", context)
        return request
    }

    func willSend(_ request: URLRequest, context: RequestContext) {
        note("willSend", context)
    }

    func didReceive(_ result: Result<Response, TargetKitError>, context: RequestContext) {
        note("didReceive", context)
    }

    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        note("retry", context)
        return .doNotRetry
    }

    func process(
        _ result: Result<Response, TargetKitError>,
        context: RequestContext
    ) async -> Result<Response, TargetKitError> {
        note("process", context)
        return result
    }

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        note("didFinish", context)
    }

    private func note(_ hook: String, _ context: RequestContext) {
        entries.append(Entry(hook: prefix + hook, context: context))
    }
}
