// SPDX-License-Identifier: MIT
import Foundation

/// One call of an API, as a value: most often a case of an enum that stands for a whole module of the API.
///
/// ```swift
/// enum Catalog: TargetType {
///     case product(id: String)
///     case search(text: String, page: Int)
///
///     var baseURL: URL { Shop.baseURL }
///
///     var path: RequestPath {
///         switch self {
///         case .product(let id): "/products/\(id)"
///         case .search: "/products"
///         }
///     }
///
///     var task: HTTPTask {
///         switch self {
///         case .product: .plain
///         case .search(let text, let page): .parameters(["q": text, "page": page], encoding: .url)
///         }
///     }
/// }
/// ```
///
/// Only ``baseURL`` and ``path`` have no default. ``RoutedTarget`` needs one switch where this needs three.
public protocol TargetType: Sendable {
    /// Where the API lives: scheme, host, and a path of its own if it has one.
    var baseURL: URL { get }
    /// The path below ``baseURL``. What is interpolated is escaped as one segment.
    var path: RequestPath { get }
    /// The method; default ``HTTPMethod/get``.
    var method: HTTPMethod { get }
    /// What goes out in query and body, and where the response's body goes; default ``HTTPTask/plain``.
    var task: HTTPTask { get }
    /// Header fields of this call; default none.
    var headers: HTTPHeaders { get }
    /// The status codes that count as success; default ``StatusValidation/successCodes``: 200 to 299.
    var validation: StatusValidation { get }
    /// The options of this call, which override the provider's; default: none.
    var options: CallOptions { get }
    /// The body that a stubbed call answers with; default empty.
    var sampleData: Data { get }
    /// The response that a stubbed call answers with; default status 200 with ``sampleData``.
    var sampleResponse: SampleResponse { get }
}

extension TargetType {
    /// `GET`.
    public var method: HTTPMethod { .get }
    /// No parameters, no body.
    public var task: HTTPTask { .plain }
    /// No header fields.
    public var headers: HTTPHeaders { [:] }
    /// Status codes 200 to 299 are accepted.
    public var validation: StatusValidation { .successCodes }
    /// No options.
    public var options: CallOptions { CallOptions() }
    /// No bytes.
    public var sampleData: Data { Data() }
    /// Status 200 with ``sampleData``.
    public var sampleResponse: SampleResponse { .response(status: 200, data: sampleData) }
}

extension TargetType {
    /// The target that is meant: the one inside a ``MultiTarget``, else this one.
    package var innermost: any TargetType { (self as? MultiTarget)?.target ?? self }

    /// The type and, for an enum, the case: `Catalog.search`. Associated values are left out, since they may be secrets.
    package var name: String {
        let type = String(describing: Self.self)
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return type }
        if let label = mirror.children.first?.label { return "\(type).\(label)" }
        return "\(type).\(self)"
    }
}
