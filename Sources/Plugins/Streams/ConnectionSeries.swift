// SPDX-License-Identifier: MIT
import TargetKit

/// The connections of a stream that reconnects, which belong to one user.
final class ConnectionSeries: Sendable {
    /// The owner of the first request that has a credential; `nil` before it is sent.
    private let requester = Locked<Requester?>(nil)
    /// What a plugin knows of the session of the last request, by the plugin's key.
    private let values = Locked<[(key: ObjectIdentifier, value: any Sendable)]>([])

    /// The value that a plugin stored for all connections.
    subscript<Value: Sendable>(storage: PluginStorage<Value>) -> Value? {
        get { value(of: ObjectIdentifier(storage)) as? Value }
        set { set(newValue, of: ObjectIdentifier(storage)) }
    }

    private func value(of key: ObjectIdentifier) -> (any Sendable)? {
        values.withLock { values in values.first { $0.key == key }?.value }
    }

    private func set(_ value: (any Sendable)?, of key: ObjectIdentifier) {
        values.withLock { values in
            values.removeAll { $0.key == key }
            if let value { values.append((key, value)) }
        }
    }

    /// Whether a request has a credential of the same user as the first one that has one.
    func admits(_ context: RequestContext) -> Bool {
        let current = Requester(context)
        return requester.withLock { known in
            if let identifier = known?.identifier { return identifier == current.identifier }
            // A session whose credential wasn't refreshed since the launch of the app can have no name.
            if known?.session?.isEnded == true { return false }
            if current.isKnown { known = current }
            return true
        }
    }
}

extension CallOptions {
    /// These options for the calls of a new stream that reconnects only with the credential of one user.
    package var ofOneUser: CallOptions {
        let series = ConnectionSeries()
        return setting(\.connectionSeries, series).setting(\.sendingGate) { _, context in
            guard series.admits(context) else { throw CredentialError.ofOtherOwner }
        }
    }

    /// The connections to which the call belongs; `nil` for a call that isn't repeated.
    var connectionSeries: ConnectionSeries? {
        get { self[ConnectionSeriesKey.self] }
        set { self[ConnectionSeriesKey.self] = newValue }
    }
}

private enum ConnectionSeriesKey: CallOptionKey { static let defaultValue: ConnectionSeries? = nil }
