// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension RedirectFollower {
    /// A redirect and the request that it leads to.
    struct Step {
        let redirect: Redirect
        let request: OutgoingRequest
    }

    /// Where the response leads; `nil` when it is the last one. Out of line: a call that is not led on needs no room for it.
    @inline(never)
    func step(after arrival: Arrival, to request: OutgoingRequest) throws -> Step? {
        guard let redirect = try redirect(arrival.response.head, of: request.urlRequest),
            let next = try next(after: redirect, request.content)
        else { return nil }
        return Step(redirect: redirect, request: OutgoingRequest(next))
    }

    /// The redirect that the response asks for; `nil` when it asks for none.
    private func redirect(_ head: ResponseHead, of request: URLRequest) throws -> Redirect? {
        guard policy.limit > 0, [301, 302, 303, 307, 308].contains(head.statusCode), let from = request.url,
            let location = head.headers[.location]
        else { return nil }
        guard let to = URL(string: location, relativeTo: from)?.absoluteURL, to.isCallable else {
            let step = Redirect(statusCode: head.statusCode, from: from, to: from)
            throw failure(.redirectToNonExistentLocation, step, "the redirect names no http URL")
        }
        return Redirect(statusCode: head.statusCode, from: from, to: to)
    }

    /// The request of the next step; `nil` when the closure takes the redirect as the response.
    private func next(after redirect: Redirect, _ request: TransportRequest) throws -> TransportRequest? {
        var next = request
        next.urlRequest.url = redirect.to
        let method = request.urlRequest.httpMethod ?? "GET"
        let becomesGet = redirect.statusCode == 303 ? method != "HEAD" : redirect.statusCode < 303 && method == "POST"
        if becomesGet {
            next.urlRequest.httpMethod = "GET"
            next.urlRequest.httpBody = nil
            next.body = .none
        }
        next.urlRequest.allHTTPHeaderFields = request.urlRequest.allHTTPHeaderFields?.filter { field in
            let name = HTTPHeaderName(rawValue: field.key)
            let describesBody = becomesGet && field.key.lowercased().hasPrefix("content-")
            return !describesBody && !(redirect.isCrossOrigin && (secretNames.contains(name) || name == .host))
        }
        switch policy {
        case .follow(_, let allowsDowngrade):
            guard allowsDowngrade || !redirect.isDowngrade else {
                let words = "the redirect leads from https to http"
                throw failure(.appTransportSecurityRequiresSecureConnection, redirect, words)
            }
            return next
        case .none: return nil
        case .custom(let decide):
            guard let decided = decide(next.urlRequest, redirect) else { return nil }
            next.urlRequest = decided
            return next
        }
    }

    func failure(_ code: URLError.Code, _ redirect: Redirect, _ words: String) -> URLError {
        URLError(
            code,
            userInfo: [
                NSURLErrorFailingURLErrorKey: redirect.to,
                NSLocalizedDescriptionKey: words
                    + ", lastly from \(RedactedURL(redirect.from)) to \(RedactedURL(redirect.to))",
            ]
        )
    }
}
