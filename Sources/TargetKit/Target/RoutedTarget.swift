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

/// The method, path and task of a call, for a ``RoutedTarget``.
///
/// ```swift
/// .post("/users/\(name)/notes", .json(note))
/// ```
public struct Route: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The path relative to the target's base URL.
    public var path: RequestPath
    /// The query, the request body, and the destination of the response body.
    public var task: HTTPTask

    /// Creates a route with any method.
    public init(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) {
        self.method = method
        self.path = path
        self.task = task
    }

    /// A `GET` route.
    public static func get(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.get, path, task) }
    /// A `HEAD` route.
    public static func head(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.head, path, task) }
    /// A `POST` route.
    public static func post(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.post, path, task) }
    /// A `PUT` route.
    public static func put(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.put, path, task) }
    /// A `PATCH` route.
    public static func patch(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.patch, path, task) }
    /// A `DELETE` route.
    public static func delete(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.delete, path, task) }
    /// An `OPTIONS` route.
    public static func options(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.options, path, task) }
}
