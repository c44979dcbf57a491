// SPDX-License-Identifier: MIT

/// A value that describes one call of an API, usually a case of an enum.
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
/// Only ``baseURL`` and ``path`` have no default. Use ``RoutedTarget`` to describe a target in one `switch` instead of
/// three.
public protocol TargetType: Sendable {
    /// The base URL of the API: scheme, host, and optionally a path.
    var baseURL: URL { get }
    /// The path relative to ``baseURL``. Each interpolated value is escaped as one segment.
    var path: RequestPath { get }
    /// The method; default ``HTTPMethod/get``.
    var method: HTTPMethod { get }
    /// The query, the request body, and the destination of the response body; default ``HTTPTask/plain``.
    var task: HTTPTask { get }
    /// The header fields of this call; default: none.
    var headers: HTTPHeaders { get }
    /// The status codes that count as success; default ``StatusValidation/successCodes``: 200 to 299.
    var validation: StatusValidation { get }
    /// The options of this call, which override the provider's; default: none.
    var options: CallOptions { get }
    /// The response body of a stubbed call; default: empty.
    var sampleData: Data { get }
    /// The response of a stubbed call; default: status 200 with ``sampleData``.
    var sampleResponse: SampleResponse { get }
    /// Returns the response of a call stubbed by ``StubBehavior/scenario(_:)``, for example an empty cart; default
    /// `nil`, which means ``sampleResponse``.
    func sampleResponse(in scenario: String) -> SampleResponse?
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
    /// No scenario has its own sample.
    public func sampleResponse(in scenario: String) -> SampleResponse? { nil }
}

extension TargetType {
    /// The wrapped target of a ``MultiTarget``; otherwise this target.
    var innermost: any TargetType { (self as? MultiTarget)?.target ?? self }

    /// The type and, for an enum, the case, for example `Catalog.search`. Associated values are omitted, because they
    /// may be secrets.
    package var name: String {
        let identifier = ObjectIdentifier(Self.self)
        // A mirror takes 13,000 instructions, a third of the cost of a log (`Benchmarks`, `counts`).
        if let name = namesOfTypes.withLock({ $0[identifier] }) { return name }
        let type = String(describing: Self.self)
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else {
            namesOfTypes.withLock { $0[identifier] = type }
            return type
        }
        if let label = mirror.children.first?.label { return "\(type).\(label)" }
        return "\(type).\(self)"
    }
}

/// The names of the target types that aren't enums.
private let namesOfTypes = Locked<[ObjectIdentifier: String]>([:])
