// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TestSupport

/// A call of a real server, whose every property the test sets.
struct ServerCall: TargetType {
    var baseURL: URL
    var path: RequestPath
    var method = HTTPMethod.get
    var task = HTTPTask.plain
    var headers: HTTPHeaders = [:]
    var validation = StatusValidation.none
    var options = CallOptions.setting(\.timeout, .exchange(.seconds(30))).setting(\.authorization, .none)

    /// A call of httpbin.
    static func httpbin(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) -> Self {
        Self(baseURL: ServerAvailability.httpbin.baseURL, path: path, method: method, task: task)
    }

    /// A call of nginx.
    static func nginx(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) -> Self {
        Self(baseURL: ServerAvailability.nginx.baseURL, path: path, method: method, task: task)
    }

    /// A call of nginx over TLS.
    static func nginxTLS(_ method: HTTPMethod, _ path: RequestPath, _ task: HTTPTask = .plain) -> Self {
        Self(baseURL: ServerAvailability.nginxTLS.baseURL, path: path, method: method, task: task)
    }

    /// A call of httpbin that brings a byte a second, and does not come to its end within a test's time.
    static let endless = httpbin(.get, "/drip?delay=0&duration=900&numbytes=900").with { $0.options.timeout = .none }

    /// The call with some of it changed.
    func with(_ change: (inout ServerCall) -> Void) -> ServerCall {
        var call = self
        change(&call)
        return call
    }
}

extension ServerCall {
    /// The call as a transport is asked for it, without a provider around it.
    func transportRequest() throws -> TransportRequest {
        TransportRequest(urlRequest: try Endpoint(target: self).urlRequest(), timeout: options.timeout.exchange)
    }
}
