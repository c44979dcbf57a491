// SPDX-License-Identifier: MIT

/// The method, path and task of a call, in one value for a ``RoutedTarget``.
///
/// ```swift
/// .post("/users/\(name)/notes", .json(note))
/// ```
public struct Route: Sendable {
    package let method: HTTPMethod
    package let path: RequestPath
    package let task: HTTPTask

    /// Creates a route for any method.
    public init(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) {
        self.method = method
        self.path = path
        self.task = task
    }

    /// Creates a `GET` route.
    public static func get(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.get, path, task) }
    /// Creates a `POST` route.
    public static func post(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.post, path, task) }
    /// Creates a `PUT` route.
    public static func put(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.put, path, task) }
    /// Creates a `PATCH` route.
    public static func patch(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.patch, path, task) }
    /// Creates a `DELETE` route.
    public static func delete(_ path: RequestPath, _ task: HTTPTask = .plain) -> Route { Route(.delete, path, task) }
}
