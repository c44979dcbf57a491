// SPDX-License-Identifier: MIT

/// Where a plugin stands among the plugins of a provider, whatever its position in the provider's array.
///
/// A provider sorts its plugins by their places; plugins of one place keep the order of the array. Each hook visits the places in
/// an order of its own:
///
/// | place | plugins | `prepare`, `willSend`, `didReceive`, `process`, `didFinish` | `retry` |
/// |---|---|---|---|
/// | ``environment`` | choose the server | 1st | 6th |
/// | ``failover`` | choose among the hosts of a server | 2nd | 2nd |
/// | ``admission`` | let a call start, delay it or refuse it | 3rd | 4th |
/// | ``standard`` | everything else | 4th | 5th |
/// | ``authentication`` | add credentials | 5th | 1st |
/// | ``signing`` | sign what the others have made | 6th | 7th |
/// | ``observation`` | record what is sent and received | 7th | 8th |
///
/// ``retrying`` stands beside ``standard`` and is asked to retry third: after a new credential and another host, before a
/// plugin that waits for the network.
///
/// A place between two others is made of a number between theirs:
///
/// ```swift
/// extension PluginPlace {
///     static let compression = PluginPlace(rawValue: PluginPlace.authentication.rawValue + 50)
/// }
/// ```
public struct PluginPlace: RawRepresentable, Sendable, Hashable, Comparable {
    /// The position; places with smaller numbers come first, but for `retry`.
    public let rawValue: Int

    /// A place at that position.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Chooses the server. 100.
    public static let environment = PluginPlace(rawValue: 100)
    /// Chooses among the hosts of a server. 200.
    public static let failover = PluginPlace(rawValue: 200)
    /// Lets a call start, delays it or refuses it. 300.
    public static let admission = PluginPlace(rawValue: 300)
    /// The place of a plugin that names none. 400.
    public static let standard = PluginPlace(rawValue: 400)
    /// Repeats failed calls. 450.
    public static let retrying = PluginPlace(rawValue: 450)
    /// Adds credentials. 500.
    public static let authentication = PluginPlace(rawValue: 500)
    /// Signs what the plugins before have made of the request. 600.
    ///
    /// From this place on `prepare` belongs to an exchange: calls that share an exchange share what it adds.
    public static let signing = PluginPlace(rawValue: 600)
    /// Records what is sent and received. 700.
    public static let observation = PluginPlace(rawValue: 700)

    /// Compares the positions.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The position at which the place is asked to retry: a new credential is tried first, then another host, then another
    /// attempt, and a plugin that waits for the network is asked last of them.
    var retryPosition: Int {
        switch self {
        case .authentication: Int.min
        case .failover: Int.min + 1
        case .retrying: Int.min + 2
        case .admission: Int.min + 3
        case .standard: Int.min + 4
        default: rawValue
        }
    }
}
