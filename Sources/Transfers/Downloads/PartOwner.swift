// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitStorage

/// The fields of a download's request that identify the owner of its file.
struct DownloadRequester: Sendable {
    /// The fields that differ in each request of the same user.
    private static let changingNames: Set<String> = [
        "range", "if-range", "user-agent", "date", "traceparent", "tracestate", "baggage", "b3",
    ]
    private static let changingEndings = ["request-id", "correlation-id", "trace-id", "span-id"]

    /// The prepared request's values by lowercase name, and the cookies that were sent.
    private var fields: [String: String]
    /// The fields that a signing plugin has changed. Signatures differ for each request.
    private var signedNames: Set<String> = []
    /// The cookies of the last request, after redirects; `nil` if there were none.
    private var redirectedCookies: String?
    private let redaction: HeaderRedaction
    /// The owner of the credential in the prepared request.
    private let owner: CredentialOwner?
    /// The owner of the credential in the request that was sent. A signing plugin may name it.
    private(set) var sentOwner: CredentialOwner?

    /// - Parameter request: The prepared request.
    init(_ request: URLRequest, context: RequestContext) {
        fields = request.lowercasedFields
        if fields["accept-encoding"] == nil { fields["accept-encoding"] = ResumableDownload.acceptedEncoding }
        redaction = HeaderRedaction(secretNames: context.secretHeaders)
        owner = context.credentialOwner
        sentOwner = owner
    }

    /// Notes the request that was sent, and the owner of its credential.
    mutating func note(sent request: URLRequest, owner sentOwner: CredentialOwner?) {
        let sent = request.lowercasedFields
        self.sentOwner = sentOwner
        fields["cookie"] = sent["cookie"]
        signedNames = Set(sent.keys.filter { sent[$0] != fields[$0] })
    }

    /// Notes the last request after redirects. Only its cookies can't be derived from the first request.
    mutating func note(redirected request: URLRequest) {
        redirectedCookies = request.value(forHTTPHeaderField: "Cookie")
    }

    /// Whether the user is only known from a signature: a signing plugin changed a secret field, or a field with one of
    /// the names, without naming the owner, and the request has no other credential.
    func isKnownBySignature(_ names: [String]) -> Bool {
        sentOwner == nil && signedNames.contains { isSecret($0) || names.contains($0) }
            && !fields.contains { !signedNames.contains($0.key) && !$0.value.isEmpty && isSecret($0.key) }
    }

    private func isSecret(_ name: String) -> Bool { redaction.isSecret(HTTPHeaderName(rawValue: name)) }

    /// The text of the secret fields, and of the fields with the names.
    ///
    /// - Parameter isPrivate: Whether to include all other fields that can identify a user.
    func text(_ names: [String], isPrivate: Bool) -> [String] {
        fields.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
            let field = HTTPHeaderName(rawValue: name)
            if let owner, owner.fields.contains(field) { return [name, "", owner.identifier] }
            let isCompared =
                names.contains(name) || isPrivate && !Self.isChanging(name) || isSecret(name)
            return isCompared ? [name, value] : []
        }
    }

    /// The text of the owner of the credential that was sent.
    var sentOwnerText: [String] { sentOwner.map { [$0.identifier] } ?? [] }
    /// The text of the cookies after redirects.
    var redirectedText: [String] { redirectedCookies.map { [$0] } ?? [] }

    private static func isChanging(_ name: String) -> Bool {
        changingNames.contains(name) || changingEndings.contains(where: name.hasSuffix)
    }
}

/// Identifies the owner of a part without storing secrets.
struct PartOwner: Codable, Sendable, Hashable {
    /// A random value that prevents dictionary attacks and hides that secrets are equal.
    private let salt: String
    /// The fields in the response's `Vary`, in lowercase.
    private let names: [String]
    /// Whether the response is for one user (RFC 9111 §5.2.2.7). Any field of the request can identify the user.
    private let isPrivate: Bool
    /// The digest of the request's secrets and of the fields with the names; for a private response, of all fields.
    private let digest: String
    /// The digest of the cookies that were sent after redirects.
    private let redirectedDigest: String
    /// The digest of the owner of the credential that was sent.
    private let sentOwnerDigest: String
    /// Whether the user is only known from a signature. If so, only the call itself can continue the part, because a
    /// signature identifies a request, not a user.
    private let isKnownBySignature: Bool

    /// The owner of a response's file; `nil` if another request can't be compared (RFC 9110 §12.5.5).
    init?(of response: HTTPHeaders, to requester: DownloadRequester) {
        let varying = response.values(for: "Vary").flatMap(\.listElements).map { $0.lowercased() }
        if varying.contains("*") { return nil }
        isPrivate = response.values(for: "Cache-Control").flatMap(\.listElements).contains { element in
            element.prefix { $0 != "=" && $0 != " " }.lowercased() == "private"
        }
        // The request for the rest sets these fields.
        names = Set(varying).subtracting(["range", "if-range"]).sorted()
        salt = (0..<32).map { _ in UInt8.random(in: .min ... .max) }.hexadecimal
        digest = Self.digest(salt, texts: requester.text(names, isPrivate: isPrivate))
        redirectedDigest = Self.digest(salt, texts: requester.redirectedText)
        sentOwnerDigest = Self.digest(salt, texts: requester.sentOwnerText)
        isKnownBySignature = requester.isKnownBySignature(names)
    }

    /// Identifies the part within a call.
    var identifier: String { salt }

    /// Whether a request that isn't prepared yet may continue the part.
    ///
    /// - Parameter isSameCall: Whether the call wrote the part.
    func admits(_ requester: DownloadRequester, isSameCall: Bool) -> Bool {
        digest == Self.digest(salt, texts: requester.text(names, isPrivate: isPrivate))
            && (isSameCall || !isKnownBySignature)
    }

    /// Whether the response to a request may continue the part.
    func admitsResponse(to requester: DownloadRequester, isSameCall: Bool) -> Bool {
        admits(requester, isSameCall: isSameCall) && (isSameCall || !requester.isKnownBySignature(names))
            && redirectedDigest == Self.digest(salt, texts: requester.redirectedText)
            && sentOwnerDigest == Self.digest(salt, texts: requester.sentOwnerText)
    }

    private static func digest(_ salt: String, texts: [String]) -> String {
        // JSON delimits the texts.
        let data = try? JSONEncoder.ofRecords.encode([salt] + texts)
        return SHA256Hasher.hexadecimal(of: data ?? Data(salt.utf8))
    }
}

/// Identifies the part that a call wrote.
enum PartKey: RequestContextKey { typealias Value = String }

extension URLRequest {
    /// The fields by lowercase name.
    fileprivate var lowercasedFields: [String: String] {
        let fields = allHTTPHeaderFields ?? [:]
        return Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { $0 + "," + $1 }
    }
}
