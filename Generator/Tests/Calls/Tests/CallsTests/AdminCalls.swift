// SPDX-License-Identifier: MIT
import Admin
import Foundation
import TargetKit
import TargetKitJSON
import TargetKitPlugins
import Testing

@Suite("The administration reads what its targets send", .needsServers)
struct AdminCalls {
    private func provider<Target: TargetType>(token: String = "tea") -> Provider<Target> {
        FastAPIServers.shared.provider(at: "admin", plugins: [AccessTokenPlugin { _ in token }])
    }

    @Test("Each call is sent with the credential of its scheme")
    func credentials() async throws {
        let bearer: Provider<CredentialsAPI> = provider()
        let basic: Provider<CredentialsAPI> = provider(token: "reader:tea")
        #expect(try await bearer.request(.withBearer, as: Who.self) == Who(scheme: "bearer", credential: "tea"))
        #expect(try await bearer.request(.withEither, as: Who.self) == Who(scheme: "bearer", credential: "tea"))
        #expect(try await bearer.request(.withScope, as: Who.self) == Who(scheme: "oauth", credential: "tea"))
        #expect(try await basic.request(.withBasic, as: Who.self) == Who(scheme: "basic", credential: "tea"))
        #expect(try await bearer.request(.openToAll, as: Who.self) == Who(scheme: "none", credential: ""))
        let wrong: Provider<CredentialsAPI> = provider(token: "coffee")
        let error = await #expect(throws: TargetKitError.self) { try await wrong.request(.withBearer) }
        #expect(error?.response?.statusCode == 401)
    }

    @Test("The generated plugin adds the key that a call needs")
    func keys() async throws {
        let keys: Provider<CredentialsAPI> = FastAPIServers.shared.provider(
            at: "admin",
            plugins: [AdminKeyPlugin { _ in "tea" }]
        )
        #expect(try await keys.request(.withKeyHeader, as: Who.self) == Who(scheme: "header", credential: "tea"))
        #expect(try await keys.request(.withKeyQuery, as: Who.self) == Who(scheme: "query", credential: "tea"))
        #expect(try await keys.request(.withKeyCookie, as: Who.self) == Who(scheme: "cookie", credential: "tea"))
    }

    @Test("A form with a password gets a token")
    func token() async throws {
        let credentials: Provider<CredentialsAPI> = provider()
        let body = BodyIssueToken(username: "reader", password: "tea", scope: "jobs:read jobs:write")
        let token = try await credentials.request(.issueToken(body), as: Token.self)
        #expect(token == Token(accessToken: "tea", tokenType: "bearer", scope: "jobs:read jobs:write"))
    }

    @Test("Cookies, all and only the required one")
    func cookies() async throws {
        let cookies: Provider<CookiesAPI> = provider()
        let all = try await cookies.request(.readCookies(session: "tea", visits: 3, mode: .later), as: CookieEcho.self)
        #expect(all == CookieEcho(session: "tea", visits: 3, mode: .later))
        let one = try await cookies.request(.readCookies(session: "tea"), as: CookieEcho.self)
        #expect(one == CookieEcho(session: "tea"))
        #expect(try await cookies.request(.setCookie).statusCode == 204)
    }

    @Test("Each success has a case with its value")
    func statuses() async throws {
        let jobs: Provider<JobsAPI> = provider()
        let now = try StartJobResult(await jobs.request(.startJob(JobRequest(mode: .now, name: "x"))))
        guard case .ok(Done(result: "x")) = now else {
            Issue.record("\(now)")
            return
        }
        let later = try StartJobResult(await jobs.request(.startJob(JobRequest(mode: .later, name: "x"))))
        guard case .accepted(Accepted(job: "x", retryAfter: 3)) = later else {
            Issue.record("\(later)")
            return
        }
        let never = try StartJobResult(await jobs.request(.startJob(JobRequest(mode: .never))))
        guard case .noContent = never else {
            Issue.record("\(never)")
            return
        }
        let done = try await jobs.request(.getJob(job: "done-1"), as: GetJobResponse.self)
        #expect(done == .done(Done(result: "done-1")))
        let accepted = try await jobs.request(.getJob(job: "x"), as: GetJobResponse.self)
        #expect(accepted == .accepted(Accepted(job: "x", retryAfter: 1)))
    }

    @Test("Errors of a range and of any other status are typed", arguments: [400, 409, 500, 503])
    func errors(code: Int) async throws {
        let jobs: Provider<JobsAPI> = provider()
        let error = await #expect(throws: TargetKitError.self) {
            try await jobs.request(.fail(code: code, details: true))
        }
        let details: [String: JSONValue] = ["list": [1, nil, "x"]]
        #expect((error?.appError as? Failure) == Failure(code: code, message: "failed with \(code)", details: details))
        let missing = await #expect(throws: TargetKitError.self) { try await jobs.request(.getJob(job: "missing")) }
        #expect((missing?.appError as? Failure)?.message == "no such job")
    }

    @Test("Free-form JSON, and a number by itself")
    func json() async throws {
        let jobs: Provider<JobsAPI> = provider()
        let settings: [String: JSONValue] = ["a": [1, 2.5, nil, true], "b": ["c": "d"]]
        #expect(try await jobs.request(.putSettings(settings), as: [String: JSONValue].self) == settings)
        #expect(try await jobs.request(.fail(code: 200), as: Done.self) == Done(result: "fine"))
    }

    @available(*, deprecated)
    @Test("A deprecated operation can be called")
    func oldOperation() async throws {
        let jobs: Provider<JobsAPI> = provider()
        #expect(try await jobs.request(.oldOperation(number: 4), as: Int.self) == 4)
    }
}
