// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What becomes of a redirect: a response of status 301, 302, 303, 307 or 308 with a `Location` (RFC 9110 §15.4).
///
/// Whoever follows keeps these rules, with every transport:
/// - 301 and 302 turn a POST into a GET, 303 turns everything but HEAD into one; the body and the fields that describe it are
///   left out. 307 and 308 keep method and body, which is read anew.
/// - When scheme, host or port change, the fields that hold secrets are left out: `Authorization`, `Cookie`,
///   `Proxy-Authorization`, the others of ``HeaderRedaction/standard``, and those that a plugin names
///   (``Plugin/secretHeaders``).
/// - The way from https to http is not taken, unless it is allowed.
/// - A `Location` that is no http URL, and more steps than the limit, end the call with an error.
public enum RedirectPolicy: Sendable {
    /// Goes where the server says, so many times at most. Default: 10 times, and not from https to http.
    case follow(limit: Int = 10, allowsDowngrade: Bool = false)
    /// Goes nowhere: the redirect is the response.
    case none
    /// Asks a closure at each step, 10 times at most. It sees the request that would be sent next, made by the rules above, and
    /// the step. It returns that request, changed or not, or `nil` to take the redirect as the response.
    ///
    /// The returned request is checked like any request, and the call ends with an error of stage `.request` if it is
    /// invalid. A redirect from https to http is refused. If the returned request's origin differs from the server's,
    /// fields that contain secrets are removed unless the closure changed them. Its `httpBody` replaces a body in
    /// memory; a body from a file or a form is sent again, unless the returned method is GET, HEAD or TRACE. An
    /// `httpBodyStream` is refused.
    case custom(@Sendable (_ next: URLRequest, _ redirect: Redirect) -> URLRequest?)

    var limit: Int {
        switch self {
        case .follow(let limit, _): limit
        case .none: 0
        case .custom: 10
        }
    }
}
