// SPDX-License-Identifier: MIT

/// A target that describes its method, path and task in one `switch`.
///
/// ```swift
/// enum Users: RoutedTarget {
///     case user(String)
///     case create(NewUser)
///
///     var baseURL: URL { Shop.baseURL }
///
///     var route: Route {
///         switch self {
///         case .user(let name): .get("/users/\(name)")
///         case .create(let user): .post("/users", .json(user))
///         }
///     }
/// }
/// ```
public protocol RoutedTarget: TargetType {
    /// The method, path and task of this call.
    var route: Route { get }
}

extension RoutedTarget {
    /// The route's path.
    public var path: RequestPath { route.path }
    /// The route's method.
    public var method: HTTPMethod { route.method }
    /// The route's task.
    public var task: HTTPTask { route.task }
}
