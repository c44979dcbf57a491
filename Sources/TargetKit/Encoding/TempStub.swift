import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
public protocol ParameterEncoding: Sendable { func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest }
public struct URLEncoding: ParameterEncoding { public init() {}
 static let contentType = "application/x-www-form-urlencoded; charset=utf-8"
 func encodesIntoQuery(for m: HTTPMethod) -> Bool { m == .get }
 func queryString(_ p: [String: any Sendable]) throws -> String { p.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&") }
 func queryString(ordered p: [(String, any Sendable)]) throws -> String { p.map { "\($0.0)=\($0.1)" }.joined(separator: "&") }
 public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest { var r = request; r.httpBody = Data(try queryString(parameters).utf8); return r } }
public struct JSONEncoding: ParameterEncoding { public init() {}
 public func encode(_ parameters: [String: any Sendable], into request: URLRequest) throws -> URLRequest { var r = request; r.httpBody = Data("{}".utf8); return r } }
extension ParameterEncoding where Self == URLEncoding { public static var url: URLEncoding { .init() }; public static var query: URLEncoding { .init() }; public static var form: URLEncoding { .init() } }
extension ParameterEncoding where Self == JSONEncoding { public static var json: JSONEncoding { .init() } }
public struct URLEncodedFormEncoder: Sendable { public init() {}
 public func encode(_ v: some Encodable) throws -> String { "" } }
public struct ParameterEncodingError: Error { var description: String { "" } }
public struct CurlTransport: Transport { public static let shared = CurlTransport()
 public func send(_ request: TransportRequest) async throws -> TransportResponse { throw URLError(.unknown) } }
public struct URLSessionTransport: Transport { public static let shared = URLSessionTransport()
 public func send(_ request: TransportRequest) async throws -> TransportResponse { throw URLError(.unknown) } }
