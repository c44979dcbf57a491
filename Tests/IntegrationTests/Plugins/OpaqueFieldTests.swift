// SPDX-License-Identifier: MIT
#if os(Linux)
import Foundation
import FoundationNetworking
import PluginsTestSupport
import TargetKit
import TargetKitOffline
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

/// Octets of fields that aren't UTF-8 go back as they came (RFC 9110 §5.5).
@Suite("Octets of fields", .throttled, .timeLimit(.minutes(2)))
struct OpaqueFieldTests {
    /// Latin-1, GBK, a text with valid UTF-8 in it, and a character of the private use area in UTF-8.
    static let values: [[UInt8]] = [
        Array("caf".utf8) + [0xE9], [0xC4, 0xE3, 0xBA, 0xC3], Array("é".utf8) + [0xFF], [0xEF, 0x9E, 0x80],
        Array("你好".utf8), Array("plain".utf8),
    ]

    /// A response whose head is these lines.
    private static func response(_ lines: [[UInt8]], status: String = "200 OK", body: String = "")
        -> TestServer.Response
    {
        let head = [Array("HTTP/1.1 \(status)".utf8)] + lines + [Array("Content-Length: \(body.utf8.count)".utf8), []]
        return [.bytes(Data(head.flatMap { $0 + [0x0D, 0x0A] } + Array(body.utf8)))]
    }

    private static func line(_ start: String, _ value: [UInt8], _ end: String = "") -> [UInt8] {
        Array(start.utf8) + value + Array(end.utf8)
    }

    private static func provider(_ plugins: any Plugin...) -> Provider<PluginTarget> {
        Provider(transport: SystemTransport.patient, plugins: plugins)
    }

    @Test("A cookie's octets go back", arguments: values)
    func cookies(value: [UInt8]) async throws {
        let server = try TestServer { _ in Self.response([Self.line("Set-Cookie: n=", value, "; Path=/")]) }
        let provider = Self.provider(CookiePlugin(CookieStore()))
        for _ in 0..<2 { _ = try await provider.request(PluginTarget(baseURL: server.baseURL)) }
        let head = try #require(server.requests.last?.rawHead)
        #expect(head.range(of: Data(Self.line("Cookie: n=", value, "\r\n"))) != nil)
    }

    @Test("An entity tag's octets validate a stored response", arguments: values)
    func entityTags(value: [UInt8]) async throws {
        let tag = Self.line("\"", value, "\"")
        let server = try TestServer { request in
            let isValidated = request.rawHead.range(of: Data(Self.line("If-None-Match: ", tag, "\r\n"))) != nil
            let fields = [Self.line("ETag: ", tag), Array("Cache-Control: no-cache".utf8)]
            return isValidated
                ? [.text("HTTP/1.1 304 Not Modified\r\n\r\n")] : Self.response(fields, body: "tea")
        }
        let cache = ResponseCachePlugin(ResponseCache())
        let provider = Self.provider(cache)
        _ = try await provider.request(PluginTarget(baseURL: server.baseURL))
        let response = try await provider.request(PluginTarget(baseURL: server.baseURL))
        #expect(response.origin == .revalidated)
        #expect(response.data == Data("tea".utf8))
    }

    @Test("A Digest realm's octets are digested and go back", arguments: values)
    func digest(value: [UInt8]) async throws {
        let challenge = Self.line(#"WWW-Authenticate: Digest nonce="n1", qop="auth", opaque=""#, value, #"", realm=""#)
        let server = try TestServer { request in
            guard let field = request.headers["Authorization"] else {
                return Self.response([challenge + value + Array(#"""#.utf8)], status: "401 Unauthorized")
            }
            func parameter(_ name: String) -> String {
                let start = field.range(of: " \(name)=")?.upperBound ?? field.endIndex
                return field[start...].prefix { $0 != "," }.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            }
            let digest = MessageDigest.md5
            let secret = digest.hexadecimal(of: Array("anna:".utf8) + value + Array(":secret".utf8))
            let target = digest.hexadecimal(of: "GET:\(request.path)")
            let text = "\(secret):n1:\(parameter("nc")):\(parameter("cnonce")):auth:\(target)"
            let isSame = ["realm=\"", "opaque=\""].allSatisfy {
                request.rawHead.range(of: Data(Self.line($0, value, "\""))) != nil
            }
            return .status(isSame && parameter("response") == digest.hexadecimal(of: text) ? 200 : 401)
        }
        let credentials = CredentialsPlugin { _ in
            URLCredential(user: "anna", password: "secret", persistence: .none)
        }
        let target = PluginTarget(baseURL: server.baseURL, authorization: .automatic)
        #expect(try await Self.provider(credentials).request(target).statusCode == 200)
    }

    @Test(
        "A Location's octets are escaped one by one",
        arguments: zip(values, ["caf%E9", "%C4%E3%BA%C3", "%C3%A9%FF", "%EF%9E%80", "%E4%BD%A0%E5%A5%BD", "plain"])
    )
    func locations(value: [UInt8], escaped: String) async throws {
        let server = try TestServer { request in
            request.path.hasPrefix("/to")
                ? .status(200) : Self.response([Self.line("Location: /to/", value)], status: "302 Found")
        }
        _ = try await Self.provider().request(PluginTarget(baseURL: server.baseURL))
        #expect(server.requests.last?.target == "/to/\(escaped)")
    }

    @Test("A field that an app sends back has the octets that came", arguments: values)
    func echoed(value: [UInt8]) async throws {
        let server = try TestServer { _ in Self.response([Self.line("X-State: ", value)]) }
        let first = try await Self.provider().request(PluginTarget(baseURL: server.baseURL))
        let state = try #require(first.headers["X-State"])
        let target = PluginTarget(baseURL: server.baseURL, headers: HTTPHeaders(["X-State": state]))
        _ = try await Self.provider().request(target)
        let head = try #require(server.requests.last?.rawHead)
        #expect(head.range(of: Data(Self.line("X-State: ", value, "\r\n"))) != nil)
    }
}
#endif
