// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The fields of a download's request that determine whose file it is.
struct DownloadRequester: Sendable {
    /// The fields that are different for each request, whoever makes it.
    private static let changingNames: Set<String> = [
        "range", "if-range", "user-agent", "date", "traceparent", "tracestate", "baggage", "b3",
    ]
    private static let changingEndings = ["request-id", "correlation-id", "trace-id", "span-id"]

    /// The values by their names in lowercase: as the request was prepared, with the cookies that were sent.
    private var fields: [String: String]
    /// The fields that a signing plugin has changed. Signatures differ for each request.
    private var signedNames: Set<String> = []
    /// The cookies of the last request, after redirects; `nil` if there were none.
    private var redirectedCookies: String?
    private let redaction: HeaderRedaction
    private let owner: CredentialOwner?

    /// - Parameter request: The prepared request.
    init(_ request: URLRequest, context: RequestContext) {
        fields = request.lowercasedFields
        if fields["accept-encoding"] == nil { fields["accept-encoding"] = ResumableDownload.acceptedEncoding }
        redaction = HeaderRedaction(secretNames: context.secretHeaders)
        owner = context.credentialOwner
    }

    /// Notes what was sent: the first request, and the last one after redirects.
    mutating func note(sent request: URLRequest) {
        let sent = request.lowercasedFields
        fields["cookie"] = sent["cookie"]
        // A credential that was refreshed meanwhile belongs to the same owner.
        signedNames = Set(
            sent.keys.filter { sent[$0] != fields[$0] && owner?.fields.contains(HTTPHeaderName(rawValue: $0)) != true }
        )
    }

    /// Notes the last request after redirects. Its other fields follow from those of the first one.
    mutating func note(redirected request: URLRequest) {
        redirectedCookies = request.value(forHTTPHeaderField: "Cookie")
    }

    /// Whether a signing plugin has changed a secret field, or one with the names.
    func isSigned(_ names: [String]) -> Bool {
        signedNames.contains { redaction.isSecret(HTTPHeaderName(rawValue: $0)) || names.contains($0) }
    }

    /// The text of the secret fields, and of those with the names.
    ///
    /// - Parameter isPrivate: Whether all other fields that can identify a user count, too.
    func text(_ names: [String], isPrivate: Bool) -> [String] {
        fields.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
            let field = HTTPHeaderName(rawValue: name)
            if let owner, owner.fields.contains(field) { return [name, "", owner.identifier] }
            let isCompared =
                names.contains(name) || isPrivate && !Self.isChanging(name) || redaction.isSecret(field)
            return isCompared ? [name, value] : []
        }
    }

    /// The text of the cookies after redirects.
    var redirectedText: [String] { redirectedCookies.map { [$0] } ?? [] }

    private static func isChanging(_ name: String) -> Bool {
        changingNames.contains(name) || changingEndings.contains(where: name.hasSuffix)
    }
}

/// Whose bytes a part has, without the secrets that say so.
struct PartOwner: Codable, Sendable, Hashable {
    /// Random, against dictionary attacks, and so that equal secrets aren't recognized.
    private let salt: String
    /// The fields in the response's `Vary`, in lowercase.
    private let names: [String]
    /// Whether the response is for one user (RFC 9111 §5.2.2.7), whom any field of the request can identify.
    private let isPrivate: Bool
    /// The digest of the request's secrets, of the fields with the names, and for a private response of all others.
    private let digest: String
    /// The digest of the cookies that were sent after redirects.
    private let redirectedDigest: String
    /// Whether a signing plugin has changed one of these fields. Then only the call itself can continue the part,
    /// because a signature doesn't say who has made it.
    private let isSigned: Bool

    /// The owner of a response's file; `nil` if another request can't be compared (RFC 9110 §12.5.5).
    init?(of response: HTTPHeaders, to requester: DownloadRequester) {
        let varying = response.listElements(of: "Vary").map { $0.lowercased() }
        if varying.contains("*") { return nil }
        isPrivate = response.listElements(of: "Cache-Control").contains { element in
            element.prefix { $0 != "=" && $0 != " " }.lowercased() == "private"
        }
        // They are those of the request for the rest.
        names = Set(varying).subtracting(["range", "if-range"]).sorted()
        salt = MessageDigest.hexadecimal((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        digest = Self.digest(salt, texts: requester.text(names, isPrivate: isPrivate))
        redirectedDigest = Self.digest(salt, texts: requester.redirectedText)
        isSigned = requester.isSigned(names)
    }

    /// Identifies the part for the attempts of a call.
    var identifier: String { salt }

    /// Whether a request that is about to be prepared for sending may continue the part.
    ///
    /// - Parameter isSameCall: Whether the call has written the part.
    func admits(_ requester: DownloadRequester, isSameCall: Bool) -> Bool {
        digest == Self.digest(salt, texts: requester.text(names, isPrivate: isPrivate))
            && (isSameCall || !isSigned && !requester.isSigned(names))
    }

    /// Whether the response to a request that was sent may continue the part.
    func admitsResponse(to requester: DownloadRequester, isSameCall: Bool) -> Bool {
        admits(requester, isSameCall: isSameCall)
            && redirectedDigest == Self.digest(salt, texts: requester.redirectedText)
    }

    private static func digest(_ salt: String, texts: [String]) -> String {
        // The limits of the texts are part of the JSON.
        let data = try? JSONEncoder.ofRecords.encode([salt] + texts)
        return MessageDigest.sha256.hexadecimal(of: data ?? Data(salt.utf8))
    }
}

/// Identifies the part that a call has written.
enum PartKey: RequestContextKey { typealias Value = String }

extension URLRequest {
    /// The fields by their names in lowercase.
    fileprivate var lowercasedFields: [String: String] {
        let fields = allHTTPHeaderFields ?? [:]
        return Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { $0 + "," + $1 }
    }
}

extension HTTPHeaders {
    /// The elements of a list field (RFC 9110 §5.6.1), without white space. A comma in a quoted string ends one, too.
    fileprivate func listElements(of name: HTTPHeaderName) -> [String] {
        values(for: name).flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
