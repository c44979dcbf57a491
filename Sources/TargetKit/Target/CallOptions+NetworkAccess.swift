// SPDX-License-Identifier: MIT

extension CallOptions {
    /// Whether the call may use a mobile network; default `true`.
    ///
    /// On Apple platforms URLSession rejects a call that isn't allowed to use the device's network. On Linux,
    /// `WaitsForConnectivityPlugin` does; without it, the option has no effect there.
    public var allowsCellular: Bool {
        get { self[AllowsCellularKey.self] }
        set { self[AllowsCellularKey.self] = newValue }
    }

    /// Whether the call may use a network that the system considers expensive, such as a mobile network or a phone's
    /// hotspot; default `true`. See ``allowsCellular``.
    public var allowsExpensive: Bool {
        get { self[AllowsExpensiveKey.self] }
        set { self[AllowsExpensiveKey.self] = newValue }
    }

    /// Whether the call may use the network in Low Data Mode; default `true`. See ``allowsCellular``.
    public var allowsConstrained: Bool {
        get { self[AllowsConstrainedKey.self] }
        set { self[AllowsConstrainedKey.self] = newValue }
    }

    /// The kinds of network that the call may not use.
    var refusedNetworks: RefusedNetworks {
        if isEmpty { return [] }
        var refused: RefusedNetworks = []
        if !allowsCellular { refused.insert(.cellular) }
        if !allowsExpensive { refused.insert(.expensive) }
        if !allowsConstrained { refused.insert(.constrained) }
        return refused
    }
}

/// Kinds of network that a call may not use.
struct RefusedNetworks: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    static let cellular = RefusedNetworks(rawValue: 1)
    static let expensive = RefusedNetworks(rawValue: 2)
    static let constrained = RefusedNetworks(rawValue: 4)
}

extension URLRequest {
    /// Disallows kinds of network, for a transport that uses URLSession. Never allows a kind that the request already
    /// disallows.
    mutating func refuse(_ networks: RefusedNetworks) {
        if networks.contains(.cellular) { allowsCellularAccess = false }
        #if !canImport(FoundationNetworking)
        if networks.contains(.expensive) { allowsExpensiveNetworkAccess = false }
        if networks.contains(.constrained) { allowsConstrainedNetworkAccess = false }
        #endif
    }
}

private enum AllowsCellularKey: CallOptionKey { static let defaultValue = true }
private enum AllowsExpensiveKey: CallOptionKey { static let defaultValue = true }
private enum AllowsConstrainedKey: CallOptionKey { static let defaultValue = true }
