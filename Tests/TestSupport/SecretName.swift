// SPDX-License-Identifier: MIT
import Foundation

/// Names of fields that contain secrets.
package enum SecretName {
    private static let words = [
        "access token", "refresh token", "id token", "auth token", "device token", "csrf token", "reset token",
        "session token", "bearer", "jwt", "client secret", "app secret", "shared secret", "webhook secret", "api key",
        "access key", "private key", "signing key", "session key", "encryption key", "subscription key", "license key",
        "password", "user password", "new password", "current password", "password hash", "passphrase", "pwd", "passwd",
        "session", "session id", "php sess id", "credential", "aws credentials", "user credential id", "auth",
        "auth user", "authorization", "proxy authorization", "signature", "request signature", "sig", "otp",
        "code verifier", "client assertion", "card number", "recovery codes",
    ]

    /// Further words, in two notations.
    private static let otherWords = [
        "sign", "x sign", "pay sign", "ticket",
        "jsapi ticket", "js code", "verify code", "vcode", "captcha", "yzm", "mima", "pay pwd", "skey", "sessdata",
        "bili jct", "ak", "sk", "tk", "encrypted data", "cb access sign", "mfa code", "one time code", "saml response",
        "signed request", "magic link", "mnemonic", "connection string", "dsn", "psk", "pan", "pat", "mac",
    ]

    /// The words as a name in each notation.
    private static func notations(_ words: String) -> [String] {
        let words = words.split(separator: " ").map(String.init)
        let capitalized = words.map(\.capitalized)
        return [
            words.joined(separator: "_"), words.joined(separator: "-"), words.joined(separator: "_").uppercased(),
            capitalized.joined(separator: "-"), capitalized.joined(),
            words[0] + capitalized.dropFirst().joined(),
        ]
    }

    /// The names, in order.
    package static let all = Array(
        Set(words.flatMap(notations) + otherWords.flatMap { [notations($0)[0], notations($0)[5]] })
    )
    .sorted()

    private static let isComplete = ProcessInfo.processInfo.environment["TARGETKIT_SECRETS"] == "1"

    /// The names that are tested at a place, each with its number: all if `TARGETKIT_SECRETS` is set; otherwise every
    /// sixth one, so that each name has several places.
    package static func all(at place: SecretPlace) -> [(Int, String)] {
        let offset = isComplete ? 0 : SecretPlace.all.firstIndex { $0.testDescription == place.testDescription } ?? 0
        return all.enumerated().filter { isComplete || ($0.offset + offset).isMultiple(of: 6) }
    }
}
