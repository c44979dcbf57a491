// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A target that has its base URL from an ``EnvironmentStore``.
///
/// ```swift
/// enum Photos: EnvironmentTarget {
///     case photo(id: Int)
///
///     static var environments: EnvironmentStore { Servers.store }
///     var module: ServerEnvironment.Module { "media" }
///     var path: RequestPath { … }
/// }
/// ```
public protocol EnvironmentTarget: TargetType {
    /// The store whose current environment the calls go to.
    static var environments: EnvironmentStore { get }
    /// The part of the API that the call belongs to; default ``ServerEnvironment/Module/main``.
    var module: ServerEnvironment.Module { get }
}

extension EnvironmentTarget {
    /// The module without a server of its own.
    public var module: ServerEnvironment.Module { .main }

    /// Where the module lives in the current environment.
    public var baseURL: URL { Self.environments.url(of: module) }
}
