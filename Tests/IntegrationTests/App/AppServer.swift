// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins
import TargetKitTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is between an app and its server, and how the server answers.
enum AppState: String, CaseIterable, Sendable {
    case online, offline
    /// A captive portal, which answers every request with its own page.
    case portal
    /// The server rejects the access token, and refreshes it.
    case expired
    /// The server rejects the access token, and refuses to refresh it.
    case revoked
    /// The server reports the rejected token in the body of a 200.
    case rejectedInBody
    /// 503 with `Retry-After`.
    case busy
    /// The server does not respond in time.
    case slow
}

/// A credential of a user.
struct AppToken: Sendable, Equatable, Codable {
    var user: String
    var number = 1
}

/// The server of a shop, which records its requests.
final class AppServer: Sendable {
    /// The server refuses the refresh.
    struct Refused: Error {}

    let clock = ManualClock()
    /// The calls of transfers that have ended.
    let attempts = Recorder<Result<Response, TargetKitError>>()
    private let state = Locked(AppState.online)
    private let accepted = Locked<[String: Int]>([:])
    private let lines = Locked<[String]>([])

    /// The requests since the state was set, without repetitions in a row.
    var log: [String] { lines.withLock { $0 } }

    func set(_ new: AppState) {
        state.withLock { $0 = new }
        lines.withLock { $0 = [] }
        if new != .online { accepted.withLock { $0 = $0.mapValues { $0 + 1 } } }
        if new == .offline || new == .portal || new == .busy || new == .slow {
            accepted.withLock { $0 = $0.mapValues { $0 - 1 } }
        }
    }

    func signIn(_ user: String) -> AppToken {
        accepted.withLock { $0[user, default: 1] += 0 }
        return AppToken(user: user, number: accepted.withLock { $0[user] ?? 1 })
    }

    func refresh(_ token: AppToken) async throws -> AppToken {
        note("refresh \(token.user)-\(token.number)")
        switch state.withLock({ $0 }) {
        case .offline: throw URLError(.notConnectedToInternet)
        case .portal, .busy: throw URLError(.cannotParseResponse)
        case .revoked: throw Refused()
        case .slow:
            try await clock.sleep(for: .seconds(600))
            throw URLError(.timedOut)
        case .online, .expired, .rejectedInBody:
            return AppToken(user: token.user, number: accepted.withLock { $0[token.user] ?? 1 })
        }
    }

    private func note(_ line: String) {
        lines.withLock { if $0.last != line { $0.append(line) } }
    }

    func answer(_ request: URLRequest) async throws -> SampleResponse {
        let path = request.url?.path ?? ""
        let token = request.value(forHTTPHeaderField: "Authorization") ?? "nobody"
        let condition = request.value(forHTTPHeaderField: "If-None-Match")
        note("\(request.httpMethod ?? "GET") \(path) \(token)" + (condition == nil ? "" : " if changed"))
        let parts = token.split(separator: "-")
        let user = parts.first.map(String.init) ?? "nobody"
        let isAccepted = parts.count == 2 && accepted.withLock { $0[user].map(String.init) } == String(parts[1])
        switch state.withLock({ $0 }) {
        case .offline: throw URLError(.notConnectedToInternet)
        case .portal:
            return .response(status: 200, headers: ["Content-Type": "text/html"], data: Data("<p>Sign in".utf8))
        case .busy: return .response(status: 503, headers: ["Retry-After": "1"], data: Data())
        case .rejectedInBody where !isAccepted:
            return .response(
                status: 200,
                headers: ["Content-Type": "application/json"],
                data: Data(#"{"code":401}"#.utf8)
            )
        case .slow: try await clock.sleep(for: .seconds(600))
        case .online, .expired, .revoked, .rejectedInBody: break
        }
        guard isAccepted else { return .response(status: 401, data: Data()) }
        let fields: HTTPHeaders = [
            "Content-Type": "application/json", "Cache-Control": "private, max-age=60", "ETag": "\"\(user)\"",
        ]
        if condition == "\"\(user)\"" { return .response(status: 304, headers: fields, data: Data()) }
        return .response(status: 200, headers: fields, data: Data(#"{"code":0,"data":"of \#(user)"}"#.utf8))
    }
}

/// The credentials' part of the app: the server's rules for tokens.
struct AppAuthenticator: Authenticator {
    let server: AppServer

    func apply(_ token: AppToken, to request: inout URLRequest) {
        request.setValue("\(token.user)-\(token.number)", forHTTPHeaderField: "Authorization")
    }

    func refresh(_ token: AppToken) async throws -> AppToken { try await server.refresh(token) }

    func wasRejected(_ response: Response) -> Bool {
        response.statusCode == 401 || BodyCode(keyPath: "code", equals: 401).matches(response)
    }

    func endsSession(_ error: any Error) -> Bool { error is AppServer.Refused }
}
